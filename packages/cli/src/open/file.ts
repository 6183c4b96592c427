import {
  type BlockDriver,
  type BlockNode,
  type NodeOptions,
  probeFormat,
  type Registry,
} from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { SourceFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';
import { parseSeekable } from './argument.ts';
import { closing } from './closing.ts';
import { openDirect } from './direct.ts';
import { checkFormat, fileOptions } from './source.ts';

/** An image by its file and its format, opening nothing that it names. */
export interface ImageFile {
  file: BlockNode;
  driver: BlockDriver;
}

/** Opens the file of an image, gives it to `work`, and closes it whatever happens. */
export async function withImageFile<T>(
  text: string,
  registry: Registry,
  flags: SourceFlags,
  terminal: Terminal,
  writable: boolean,
  work: (image: ImageFile) => Promise<T>,
): Promise<T> {
  const image = parseSeekable(text, registry, flags.imageOpts);
  let format = flags.format;
  let options = image.kind === 'tree' && image.tree.driver !== undefined ? image.tree : undefined;
  const ownDriver = options && registry.drivers.get(options.driver);
  if (ownDriver?.kind === 'format') {
    if (format !== undefined && format !== ownDriver.name)
      throw new UsageError(`-f ${format}: the graph says driver ${ownDriver.name} already`);
    format = ownDriver.name;
    options = (options as unknown as { file: NodeOptions }).file;
  }
  const below = options ?? fileOptions(image, registry, flags);
  const mode = cacheModes[(flags.cache ?? 'writeback') as CacheMode];
  const { signal } = terminal;
  const file = await openDirect(mode.direct, terminal, (direct) =>
    registry.openNode(
      {
        ...below,
        readOnly: !writable,
        cache: { ...mode, direct },
        ...(writable ? { discard: 'unmap' } : {}),
      } as NodeOptions,
      { signal },
    ),
  );
  return await closing(file, async () => {
    format ??= await probeFormat(file, registry.drivers.values());
    checkFormat(registry, format);
    return await work({ file, driver: registry.driver(format) });
  });
}
