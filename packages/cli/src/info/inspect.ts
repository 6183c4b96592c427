import { stat } from 'node:fs/promises';
import { type BlockNode, protocolNode, type Registry } from '@blockyard/core';
import { type ImageReport, info } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { parseImage } from '../open/argument.ts';
import { openDirect } from '../open/direct.ts';
import { fileOptions, openSource } from '../open/source.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { SourceFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';

/** An image's report, with what only the file system knows. */
export interface NamedReport extends ImageReport {
  name: string;
  path: string;
  /** Bytes that the file occupies; undefined for what is no regular file. */
  actualSize?: number | undefined;
}

/** The image, and with `chain` those behind it, in order. */
export async function inspectImage(
  text: string,
  registry: Registry,
  flags: SourceFlags,
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
  const mode = cacheModes[(flags.sourceCache ?? 'writeback') as CacheMode];
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
  flags: SourceFlags,
  chain: boolean,
  terminal: Terminal,
) {
  const root = await openSource(text, registry, flags, terminal);
  try {
    const reports: NamedReport[] = [];
    for (let node: BlockNode | undefined = root; node; node = chain ? node.children.backing : undefined) {
      const { file = node } = node.children;
      const report = await info(registry, file, { format: node.kind === 'format' ? node.driver : 'raw' });
      reports.push(
        await reportOf(
          { ...report, virtualSize: node.size },
          protocolNode(file),
          reports.length === 0 ? text : protocolNode(file).path,
        ),
      );
    }
    return reports;
  } finally {
    await root.close();
  }
}

async function reportOf(report: ImageReport, file: BlockNode, text: string): Promise<NamedReport> {
  const { path } = file;
  const status = path && file.driver === 'file' ? await stat(path) : undefined;
  const actualSize = status?.isFile() ? status.blocks * 512 : undefined;
  return { ...report, name: text.startsWith('{') ? path : text, path, actualSize };
}
