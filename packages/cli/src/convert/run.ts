import { resolve } from 'node:path';
import { BlockError, type BlockNode, protocolNode } from '@blockyard/core';
import { type ConvertResult, concat, convert, readToSink, verify } from '@blockyard/image-ops';
import { fullName } from '../info/names.ts';
import { openSource, type SourceSettings } from '../open/source.ts';
import { splitPairs } from '../options/key-value.ts';
import { parseSize } from '../options/size.ts';
import { openBacking } from '../target/backing.ts';
import { Target } from '../target/target.ts';
import { withProgress } from '../work.ts';
import { type ConvertJob, checkTargetFormat, targetFlags } from './flags.ts';
import { fromStream } from './from-stream.ts';
import { shouldOffload } from './offload.ts';
import { report } from './report.ts';
import { standardOutput } from './sink.ts';

/** To a file, device or graph. Whatever goes wrong, nothing is left that looks finished. */
export async function convertToFile(job: ConvertJob): Promise<void> {
  checkTargetFormat(job);
  const { flags, registry, terminal } = job;
  if (job.sources.includes('-') && !flags.imageOpts) return await fromStream(job);
  const sparse = parseSize(flags.sparse, '-S');
  const source = await openSources(job);
  let target: Target | undefined;
  try {
    target = await Target.find(job.target, registry, targetFlags(job), terminal);
    await target.checkDistinct(source);
    await openBehind(job, target);
    const started = performance.now();
    const result = await copy(job, source, target, sparse);
    if (flags.verify) await verifyCopy(job, source, target);
    await target.finish();
    report(job, { ...result, verified: flags.verify === true }, performance.now() - started);
  } catch (error) {
    throw target ? await target.failed(error) : error;
  } finally {
    await target?.behind?.close();
    await source.close();
  }
}

/** One, or several behind one another. */
async function openSources(job: ConvertJob): Promise<BlockNode> {
  const { sources, registry, terminal } = job;
  const opened: BlockNode[] = [];
  try {
    for (const source of sources)
      opened.push(await openSource(source, registry, sourceSettings(job), terminal));
    const [only] = opened;
    return only && opened.length === 1 ? only : await concat(opened);
  } catch (error) {
    for (const node of opened) await node.close();
    throw error;
  }
}

async function openBehind({ flags, registry, terminal }: ConvertJob, target: Target): Promise<void> {
  const { backing: name } = target;
  if (!name) return;
  const { references, probe } = flags;
  const { signal } = terminal;
  target.behind = await openBacking(name, registry, {
    op: 'convert',
    image: target.path,
    references,
    probe,
    signal,
  });
}

async function copy(
  job: ConvertJob,
  source: BlockNode,
  target: Target,
  sparse: number,
): Promise<ConvertResult> {
  const { flags, terminal } = job;
  await target.make(source.size);
  const node = await target.open();
  let result: ConvertResult;
  try {
    const backing = flags.backing !== undefined || target.behind !== undefined;
    if (backing) checkBehind(job, node);
    result = await withProgress(terminal, 'convert', flags, async (options) =>
      convert(source, node, {
        ...target.watch(options),
        sparse,
        targetIsZero: !backing && (target.isZero || flags.targetIsZero),
        copyRange: flags.offload ?? (await shouldOffload(source, node, sparse)),
        outOfOrder: flags.outOfOrder,
        compressed: flags.compress,
        backing,
        bitmaps: flags.bitmaps,
        skipBrokenBitmaps: flags.skipBrokenBitmaps,
        salvage: flags.salvage,
      }),
    );
  } catch (error) {
    await target.abandon(node);
    throw error;
  }
  await node.close();
  return result;
}

/** With -n the backing file is the one that the target has. */
function checkBehind({ flags, target }: ConvertJob, node: BlockNode): void {
  const { backing, noCreate } = flags;
  if (!noCreate || backing === undefined) return;
  const behind = node.children.backing;
  const path = behind && protocolNode(behind).path;
  if (path !== undefined && resolve(path) === resolve(fullName(backing, target))) return;
  const has = path === undefined ? 'none' : path;
  const text = `convert to ${target}: -B ${backing}: with -n the target keeps the backing file that it has, which is ${has}`;
  throw new BlockError('ERR_INVALID_OPTION', text, { op: 'convert', path: target });
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
  const { flags, terminal } = job;
  const sink = standardOutput(terminal);
  const source = await openSources(job);
  try {
    await withProgress(terminal, 'convert', flags, (options) => readToSink(source, sink, options));
  } finally {
    await source.close();
  }
}

function sourceSettings({ flags }: ConvertJob): SourceSettings {
  const {
    snapshot,
    sourceOptions = [],
    format,
    sourceCache,
    aio,
    forceShare,
    references,
    probe,
    imageOpts,
  } = flags;
  return {
    ...{ format, cache: sourceCache, aio, forceShare, references, probe, imageOpts, snapshot },
    extra: sourceOptions.flatMap(splitPairs),
  };
}
