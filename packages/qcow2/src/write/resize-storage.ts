import type { TruncateOptions } from '@blockyard/core';
import type { Image } from '../image.ts';
import type { Transition } from './transition.ts';

type Preallocation = NonNullable<TruncateOptions['preallocation']>;

/** How the file below provides what tables assign: `metadata` is a matter of tables alone. */
const below = (preallocation: Preallocation): Preallocation =>
  preallocation === 'metadata' ? 'off' : preallocation;

/** Makes clusters at the end of the file read as zeroes. */
export async function provide(
  { image: { file } }: Transition,
  offset: number,
  length: number,
  preallocation: Preallocation,
): Promise<void> {
  const mayUnmap = below(preallocation) === 'off';
  // What the file has there already was in use once.
  if (file.size > offset) await file.writeZeroes(offset, Math.min(length, file.size - offset), { mayUnmap });
  if (file.size < offset + length)
    await file.truncate(offset + length, { preallocation: below(preallocation) });
}

/** Makes the data file as long as the disk will be, with zeroes where the disk has none yet. */
export async function provideData(
  { data, header }: Image,
  from: number,
  size: number,
  preallocation: Preallocation,
): Promise<void> {
  // Where nothing will lead to them, the bytes do not matter.
  const shown = header.rawExternalData || preallocation !== 'off';
  if (shown && data.size > from) await data.writeZeroes(from, Math.min(data.size, size) - from);
  if (data.size < size) await data.truncate(size, { preallocation: below(preallocation) });
}
