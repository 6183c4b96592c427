import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type BlockNode, protocolNode, type Registry } from '@blockyard/core';
import { type ImageReport, info } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { parseImage } from '../open/argument.ts';
import { openDirect } from '../open/direct.ts';
import { fileOptions, openSource, type SourceSettings } from '../open/source.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { Terminal } from '../terminal.ts';
import { fullName } from './names.ts';

/** An image's report, with what only the file system knows. */
export interface NamedReport extends ImageReport {
  name: string;
  /** Where names in it start. */
  path: string;
  /** Bytes that the file occupies; undefined for what is no regular file. */
  actualSize?: number | undefined;
}

/** The image, and with `chain` those behind it, in order. */
export async function inspectImage(
  text: string,
  registry: Registry,
  flags: SourceSettings,
  chain: boolean,
  terminal: Terminal,
): Promise<NamedReport[]> {
  const image = parseImage(text, registry, flags.imageOpts);
  if (image.kind === 'stream')
    throw new UsageError('info needs an image with random access, and standard input has none');
  const graph =
    image.kind === 'tree' &&
    image.tree.driver !== undefined &&
    registry.drivers.get(image.tree.driver)?.kind !== 'protocol';
  if (chain || graph) return await inspectGraph(text, registry, flags, chain, terminal);
  const mode = cacheModes[(flags.cache ?? 'writeback') as CacheMode];
  const options =
    image.kind === 'tree' && image.tree.driver !== undefined
      ? image.tree
      : fileOptions(image, registry, flags);
  const file = await openDirect(mode.direct, terminal, (direct) =>
    registry.openNode({ ...options, readOnly: true, cache: { ...mode, direct } } as never),
  );
  try {
    return [await reportOf(await info(registry, file, { format: flags.format }), file, text)];
  } finally {
    await file.close();
  }
}

/** By the open graph: what a graph says is behind an image counts, not what the image says. */
async function inspectGraph(
  text: string,
  registry: Registry,
  flags: SourceSettings,
  chain: boolean,
  terminal: Terminal,
) {
  const root = await openSource(text, registry, flags, terminal);
  try {
    const reports: NamedReport[] = [];
    for (let node: BlockNode | undefined = root; node; node = chain ? node.children.backing : undefined) {
      const { file = node } = node.children;
      const report = await info(registry, file, { format: node.kind === 'format' ? node.driver : 'raw' });
      const disk = protocolNode(file);
      const above = reports.at(-1);
      const name = above ? shownName(above, disk.path) : text;
      reports.push(await reportOf({ ...report, virtualSize: node.size }, disk, name));
    }
    return reports;
  } finally {
    await root.close();
  }
}

/** As the image above names it, where that is what was opened. */
function shownName({ backingFile, path }: NamedReport, opened: string): string {
  const named = backingFile === undefined ? opened : fullName(backingFile, path);
  return resolve(named) === resolve(opened) ? named : opened;
}

async function reportOf(report: ImageReport, file: BlockNode, name: string): Promise<NamedReport> {
  const { path } = file;
  const status = path && file.driver === 'file' ? await stat(path) : undefined;
  const actualSize = status?.isFile() ? status.blocks * 512 : undefined;
  if (name.startsWith('{')) return { ...report, name: path, path, actualSize };
  return { ...report, name, path: resolve(name) === resolve(path) ? name : path, actualSize };
}
