import type { BlockNode, Registry } from '@blockyard/core';
import type { ImageFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';
import { closing } from './closing.ts';
import { openSource } from './source.ts';

export interface ImageSettings {
  /** Only to be read all the same. */
  readOnly?: boolean;
  /** What is behind it, whatever the image names; null where the command has no need of it: it may be missing. */
  backing?: BlockNode | null;
}

/** Opens an image to be changed, gives it to `work`, and closes it whatever happens. */
export async function withImage<T>(
  text: string,
  registry: Registry,
  flags: ImageFlags,
  terminal: Terminal,
  { readOnly = false, backing }: ImageSettings,
  work: (image: BlockNode) => Promise<T>,
): Promise<T> {
  const image = await openSource(text, registry, { ...flags, writable: !readOnly, backing }, terminal);
  return await closing(image, work);
}
