import { BlockError, type BlockNode, type NodeOptions, probeFormat, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { SourceFlags } from '../options/common.ts';
import { treeFromPairs } from '../options/key-value.ts';
import type { Terminal } from '../terminal.ts';
import { parseSeekable, type SeekableImage } from './argument.ts';
import { openDirect } from './direct.ts';

export interface SourceSettings extends SourceFlags {
  /** Id or name of an internal snapshot. */
  snapshot?: string | undefined;
  /** More options for the root node, and as file.<option> for the file below it. */
  extra?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Open it for writing. */
  writable?: boolean | undefined;
  /** What is behind the image, whatever it names; null for nothing. Formats without backing files are left alone. */
  backing?: BlockNode | null | undefined;
}

/** Opens an image: the bytes of its disk. */
export async function openSource(
  text: string,
  registry: Registry,
  flags: SourceSettings,
  terminal: Terminal,
): Promise<BlockNode> {
  const image = parseSeekable(text, registry, flags.imageOpts);
  const mode = cacheModes[(flags.cache ?? 'writeback') as CacheMode];
  return await openDirect(mode.direct, terminal, (direct) =>
    openWith(image, registry, flags, { ...mode, direct }, terminal.signal),
  );
}

async function openWith(
  image: SeekableImage,
  registry: Registry,
  flags: SourceSettings,
  cache: { direct: boolean; noFlush: boolean },
  signal: AbortSignal,
): Promise<BlockNode> {
  const settings = { references: policyOf(flags.references), probe: flags.probe, signal };
  const { snapshot, extra = [], writable = false, backing } = flags;
  // The types of the options are those of the driver.
  const rootFor = (driver: string, pairs = extra) => ({
    ...treeFromPairs(pairs, registry, driver),
    ...(snapshot === undefined ? {} : { snapshot: snapshotName(snapshot) }),
    ...(backing !== undefined && registry.drivers.get(driver)?.options.backing ? { backing } : {}),
  });
  const common = { readOnly: !writable, cache, ...(writable ? { discard: 'unmap' as const } : {}) };
  if (image.kind === 'tree' && image.tree.driver !== undefined) {
    if (flags.format !== undefined && flags.format !== image.tree.driver) {
      throw new UsageError(`-f ${flags.format}: the graph says driver ${image.tree.driver} already`);
    }
    if (snapshot !== undefined) checkSnapshots(registry, image.tree.driver);
    const tree = image.tree as NodeOptions;
    return await registry.openNode(
      { ...tree, ...rootFor(tree.driver), ...common, cache: { ...cache, ...tree.cache } },
      settings,
    );
  }
  const named = fileOptions(image, registry, flags);
  const ofFile = extra
    .filter(([key]) => key.startsWith('file.'))
    .map(([key, value]) => [key.slice(5), value] as const);
  const file = { ...named, ...treeFromPairs(ofFile, registry, named.driver) } as NodeOptions;
  const below = await registry.openNode({ ...file, ...common, cache: { ...cache, ...file.cache } }, settings);
  try {
    const format = flags.format ?? (await probeFormat(below, registry.drivers.values()));
    checkFormat(registry, format);
    if (writable && format === 'raw' && flags.format === undefined) throw guessedRaw(below.path);
    if (snapshot !== undefined) checkSnapshots(registry, format);
    return await registry.openNode(
      {
        ...rootFor(
          format,
          extra.filter(([key]) => !key.startsWith('file.')),
        ),
        ...common,
        driver: format,
        file: below,
      } as NodeOptions,
      settings,
    );
  } finally {
    // The format's node holds it too.
    await below.close();
  }
}

/** The protocol node's options that an image argument stands for. */
export function fileOptions(image: SeekableImage, registry: Registry, flags: SourceFlags): NodeOptions {
  const file = image.kind === 'name' ? registry.parseName(image.text) : (image.tree.file as NodeOptions);
  const known = registry.drivers.get(file.driver)?.options ?? {};
  return {
    ...('aio' in known && flags.aio !== undefined && flags.aio !== 'auto' ? { aio: flags.aio } : {}),
    ...('forceShare' in known && flags.forceShare ? { forceShare: true } : {}),
    ...file,
  };
}

/** A guest can write the header of any format into a raw image: what is changed by guess may be the wrong thing. */
function guessedRaw(path: string): BlockError {
  const text = `open ${path} for writing: its first bytes tell no format, so it seems to be raw; if it is, say -f raw`;
  return new BlockError('ERR_FORMAT_REQUIRED', text, { op: 'open', path });
}

export const policyOf = (policy = 'same-directory') =>
  policy === 'allow' ? () => true : (policy as 'deny' | 'same-directory');

/** As qemu-img takes it: a name or id alone, or snapshot.id=... or snapshot.name=... */
export function snapshotName(text: string): string {
  return /^snapshot\.(?:id|name)=(.*)$/s.exec(text)?.[1] ?? text;
}

export function checkFormat(registry: Registry, format: string): void {
  if (registry.drivers.get(format)?.kind === 'format') return;
  const formats = [...registry.drivers.values()]
    .filter(({ kind }) => kind === 'format')
    .map(({ name }) => name);
  throw new BlockError(
    'ERR_UNKNOWN_DRIVER',
    `no format is named '${format}'; there are ${formats.join(', ')}`,
    { op: 'open' },
  );
}

function checkSnapshots(registry: Registry, format: string): void {
  if (registry.drivers.get(format)?.options.snapshot) return;
  throw new BlockError('ERR_NOT_SUPPORTED', `the format ${format} has no internal snapshots; leave out -l`, {
    op: 'open',
  });
}
