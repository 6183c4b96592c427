import type { BlockNode, Registry } from '@blockyard/core';
import type { ImageFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';
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
  const { cache, ...rest } = flags;
  const settings = { ...rest, ...(cache === undefined ? {} : { sourceCache: cache }) };
  const image = await openSource(text, registry, { ...settings, writable: !readOnly, backing }, terminal);
  let result: T;
  try {
    result = await work(image);
  } catch (error) {
    await image.close().catch(() => {});
    throw error;
  }
  // What cannot be written at the end is a failure of the command.
  await image.close();
  return result;
}
