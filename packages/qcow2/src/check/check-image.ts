import type { BlockNode, CheckOptions, CheckResult } from '@blockyard/core';
import { readHeader } from '../read-header.ts';
import { compare } from './compare.ts';
import { checkLayout } from './layout.ts';
import { Progress } from './progress.ts';
import { repairImage } from './repair.ts';
import { Report } from './report.ts';
import { Survey } from './survey.ts';

export interface Inspected {
  survey: Survey;
  report: Report;
}

/**
 * Whether the metadata of the image in `file` is sound, in the numbers of `qemu-img check`. Needs neither the backing
 * file nor the data file. With `repair` the numbers are what is left.
 * @throws BlockError for an image of which it cannot be told where its tables are
 */
export async function checkImage(file: BlockNode, options: CheckOptions = {}): Promise<CheckResult> {
  const { signal, repair } = options;
  const progress = new Progress(options.onProgress);
  const header = await readHeader(file);
  checkLayout(header, file);
  const inspect = () => inspectImage(file, progress, signal);
  const first = await inspect();
  if (!repair) return resultOf(first, { corruptionsFixed: 0, leaksFixed: 0, findings: [] });
  const repaired = await repairImage(file, first, repair, inspect, signal);
  return resultOf(repaired.left, repaired);
}

/** One pass over the image as it is in the file now. */
async function inspectImage(
  file: BlockNode,
  progress: Progress,
  signal: AbortSignal | undefined,
): Promise<Inspected> {
  const header = await readHeader(file);
  const report = new Report();
  const survey = new Survey(file, header, report, progress, signal);
  await survey.walk();
  await judge(file, survey, progress, signal);
  return { survey, report };
}

async function judge(
  file: BlockNode,
  survey: Survey,
  progress: Progress,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { report, header, structure, counts } = survey;
  const { max } = structure.codec;
  let last = counts.last();
  await compare(
    file,
    survey,
    signal,
    (cluster, stored, references) => {
      if (cluster > last) last = cluster;
      if (references > max) {
        const text = `cluster ${cluster} is referred to ${references} times, more than its refcount can be (${max})`;
        report.corruption(references - max, () => text);
      }
      const most = Math.min(references, max);
      if (stored < most) {
        if (!structure.counts(cluster)) report.needsRebuild = true;
        report.lowRefcounts++;
        report.corruption(
          1,
          () => `cluster ${cluster} has the refcount ${stored} and ${references} references`,
        );
      } else if (stored > most)
        report.leak(
          () => `cluster ${cluster} has the refcount ${stored} and ${references} references: leaked`,
        );
    },
    progress.add,
  );
  report.imageEndOffset = (last + 1) * header.clusterSize;
}

function resultOf(
  { survey, report }: Inspected,
  fixed: { corruptionsFixed: number; leaksFixed: number; findings: readonly string[] },
): CheckResult {
  return {
    corruptions: report.corruptions,
    leaks: report.leaks,
    corruptionsFixed: fixed.corruptionsFixed,
    leaksFixed: fixed.leaksFixed,
    checkErrors: report.checkErrors,
    imageEndOffset: report.imageEndOffset,
    totalClusters: Math.ceil(survey.header.size / survey.header.clusterSize),
    allocatedClusters: report.allocatedClusters,
    fragmentedClusters: report.fragmentedClusters,
    compressedClusters: report.compressedClusters,
    findings: [...fixed.findings, ...report.findings].slice(0, 1000),
  };
}
