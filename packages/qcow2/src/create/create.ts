import type { BlockNode, CreateContext, CreateOptions } from '@blockyard/core';
import { badOption } from '../failure.ts';
import { encodeHeader } from '../write/header-encoder.ts';
import { writeFirstHeader } from '../write/header-writer.ts';
import { isMapped, type Layout, layOut } from './layout.ts';
import { newHeader } from './new-header.ts';
import { type NewImage, newImage } from './new-image.ts';
import { TableWriter } from './write-tables.ts';

/** Makes an image in `target`. Its header comes last: until then the file is no image. */
export async function create(
  target: BlockNode,
  options: CreateOptions,
  context: CreateContext,
): Promise<void> {
  const image = newImage(options, target);
  const layout = layOut(image, target);
  const header = newHeader(image, layout);
  encodeHeader(header, target);
  await provideSpace(target, image, layout, context.signal);
  if (image.dataFile !== undefined) await makeDataFile(image.dataFile, image, context);
  const tables = new TableWriter(target, context.signal);
  await tables.refcounts(image, layout);
  if (isMapped(image)) await tables.mapping(image, layout);
  await writeFirstHeader(target, header);
}

/** Makes all that the image takes up read as zeroes. A device keeps its size, and what was on it must not show. */
async function provideSpace(
  target: BlockNode,
  image: NewImage,
  { end }: Layout,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (target.supports.resize) {
    const space =
      image.dataFile === undefined && image.preallocation !== 'metadata' ? image.preallocation : 'off';
    await target.truncate(0, { shrink: true });
    await target.truncate(end, { preallocation: space, signal });
    return;
  }
  if (target.size < end)
    throw badOption(
      target,
      `the image needs ${end} bytes, and the target has ${target.size}; use a larger one`,
    );
  await target.writeZeroes(0, Math.min(512, end));
  await target.flush();
  await target.writeZeroes(0, end, { signal });
}

async function makeDataFile(name: string, image: NewImage, context: CreateContext): Promise<void> {
  const space = image.preallocation === 'metadata' ? 'off' : image.preallocation;
  const data = await context.createFile(name, image.size, space);
  try {
    await data.flush();
  } finally {
    await data.close();
  }
}
