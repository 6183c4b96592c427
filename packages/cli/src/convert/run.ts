import type { BlockNode } from '@blockyard/core';
import { type ConvertResult, convert, readToSink, verify } from '@blockyard/image-ops';
import { openSource, type SourceSettings } from '../open/source.ts';
import { splitPairs } from '../options/key-value.ts';
import { parseSize } from '../options/size.ts';
import { Target } from '../target/target.ts';
import { withProgress } from '../work.ts';
import { type ConvertJob, checkTargetFormat } from './flags.ts';
import { fromStream } from './from-stream.ts';
import { shouldOffload } from './offload.ts';
import { report } from './report.ts';
import { standardOutput } from './sink.ts';

/** To a file, device or graph. Whatever goes wrong, nothing is left that looks finished. */
export async function convertToFile(job: ConvertJob): Promise<void> {
  checkTargetFormat(job);
  const { flags, registry, terminal } = job;
  if (job.source === '-' && !flags.imageOpts) return await fromStream(job);
  const sparse = parseSize(flags.sparse, '-S');
  const source = await openSource(job.source, registry, sourceSettings(job), terminal);
  let target: Target | undefined;
  try {
    const { noCreate, overwrite = false, cache, aio, options = [], targetImageOpts: imageOpts } = flags;
    target = await Target.find(
      job.target,
      registry,
      { cache, aio, noCreate, overwrite, imageOpts, options },
      terminal,
    );
    await target.checkDistinct(source);
    const started = performance.now();
    const result = await copy(job, source, target, sparse);
    if (flags.verify) await verifyCopy(job, source, target);
    await target.finish();
    report(job, { ...result, verified: flags.verify === true }, performance.now() - started);
  } catch (error) {
    throw withState(error, await target?.giveUp());
  } finally {
    await source.close();
  }
}

async function copy(
  job: ConvertJob,
  source: BlockNode,
  target: Target,
  sparse: number,
): Promise<ConvertResult> {
  const { flags, terminal } = job;
  const node = await target.open(source.size);
  let result: ConvertResult;
  try {
    result = await withProgress(terminal, 'convert', flags, async (options) =>
      convert(source, node, {
        ...options,
        sparse,
        targetIsZero: target.isZero || flags.targetIsZero,
        copyRange: flags.offload ?? (await shouldOffload(source, node, sparse)),
        outOfOrder: flags.outOfOrder,
      }),
    );
  } catch (error) {
    await target.abandon(node);
    throw error;
  }
  await node.close();
  return result;
}

async function verifyCopy({ flags, terminal }: ConvertJob, source: BlockNode, target: Target): Promise<void> {
  const copy = await target.reopen();
  try {
    await withProgress(terminal, 'verify', flags, (options) => verify(source, copy, options));
  } finally {
    await copy.close();
  }
}

/** To standard output, in order. */
export async function convertToStream(job: ConvertJob): Promise<void> {
  checkTargetFormat(job);
  const { flags, registry, terminal } = job;
  const sink = standardOutput(terminal);
  const source = await openSource(job.source, registry, sourceSettings(job), terminal);
  try {
    await withProgress(terminal, 'convert', flags, (options) => readToSink(source, sink, options));
  } finally {
    await source.close();
  }
}

function sourceSettings({ flags }: ConvertJob): SourceSettings {
  const { snapshot, sourceOptions = [] } = flags;
  return { ...flags, snapshot, extra: sourceOptions.flatMap(splitPairs) };
}

/** Adds to an error what is left behind. */
export function withState(error: unknown, left: string | undefined): unknown {
  if (left !== undefined && error instanceof Error) Object.assign(error, { left });
  return error;
}
