import {
  type BitmapInformation,
  type BitmapStore,
  BlockError,
  type BlockNode,
  type Registry,
} from '@blockyard/core';
import { withImage } from '../open/image.ts';
import { openSource } from '../open/source.ts';
import type { ImageFlags } from '../options/common.ts';
import { formatBytes } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';

/** In the order of the command line. */
export type BitmapAction =
  | { do: 'add' | 'remove' | 'clear' | 'enable' | 'disable' }
  | { do: 'merge'; source: string };

export interface BitmapJob {
  image: string;
  flags: ImageFlags & { forceShare?: boolean };
  registry: Registry;
  terminal: Terminal;
}

export interface ChangeSettings {
  granularity?: number | undefined;
  /** The image that has the sources of merges, where it is another. */
  source?: { image: string; format?: string | undefined } | undefined;
}

const past = { add: 'added', remove: 'removed', clear: 'cleared', enable: 'enabled', disable: 'disabled' };

/** Does one action after the other; none is undone when a later one fails. */
export async function changeBitmap(
  job: BitmapJob,
  name: string,
  actions: readonly BitmapAction[],
  { granularity, source }: ChangeSettings,
): Promise<void> {
  const { image, flags, registry, terminal } = job;
  const from = source && (await openOther(source, job));
  let done = 0;
  try {
    await withImage(image, registry, flags, terminal, { backing: null }, async (node) => {
      const store = storeOf(node, image);
      for (const action of actions) {
        if (action.do === 'merge') await store.merge(name, action.source, from);
        else if (action.do === 'add') await store.add(name, granularity === undefined ? {} : { granularity });
        else await store[action.do](name);
        done++;
      }
      await node.flush();
    });
  } catch (error) {
    const made = actions.slice(0, done).map((action) => action.do);
    if (done > 0 && error instanceof Error)
      Object.assign(error, { left: `what came before is done: ${made.join(', ')}` });
    throw error;
  } finally {
    await from?.close();
  }
  if (terminal.json) return terminal.printJson({ image, name, done: actions });
  const made = actions.map((action) => (action.do === 'merge' ? `merged ${action.source}` : past[action.do]));
  if (!terminal.quiet) terminal.print(printable(`${image}: bitmap '${name}' ${made.join(', ')}`));
}

async function openOther(
  { image, format }: NonNullable<ChangeSettings['source']>,
  { flags, registry, terminal }: BitmapJob,
): Promise<BlockNode> {
  const { format: _, imageOpts: __, cache: ___, ...rest } = flags;
  const settings = { ...rest, ...(format === undefined ? {} : { format }), backing: null };
  return await openSource(image, registry, settings, terminal);
}

export async function listBitmaps({ image, flags, registry, terminal }: BitmapJob): Promise<void> {
  const settings = { readOnly: true, backing: null };
  const found = await withImage(image, registry, flags, terminal, settings, (node) =>
    storeOf(node, image).list(),
  );
  if (terminal.json) return terminal.printJson(found.map(bitmapJson));
  if (found.length === 0) return terminal.notice(`${image} has no bitmaps`);
  const rows = found.map((bitmap) => [
    printable(bitmap.name),
    formatBytes(bitmap.granularity),
    // Whoever writes to it has marked them so.
    bitmap.inconsistent && flags.forceShare ? 'in use' : stateOf(bitmap),
    bitmap.inconsistent ? '?' : formatBytes(bitmap.dirtyBytes),
  ]);
  for (const line of table([['NAME', 'GRANULARITY', 'STATE', 'DIRTY'], ...rows], [1, 3]))
    terminal.print(line);
}

function stateOf({ inconsistent, recording }: BitmapInformation): string {
  if (inconsistent) return 'inconsistent: only --remove is left';
  return recording ? 'enabled' : 'disabled';
}

/** The keys of QMP's block dirty info. */
const bitmapJson = ({ name, granularity, recording, inconsistent, dirtyBytes }: BitmapInformation) => ({
  name,
  granularity,
  recording,
  persistent: true,
  ...(inconsistent ? { inconsistent } : { count: dirtyBytes }),
});

function storeOf(node: BlockNode, image: string): BitmapStore {
  const { bitmaps } = node.features;
  if (bitmaps) return bitmaps;
  const text = `bitmap of ${image}: this image cannot hold bitmaps (format ${node.driver}); qcow2 of version 3 (compat 1.1) can`;
  throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'bitmap', path: image, driver: node.driver });
}
