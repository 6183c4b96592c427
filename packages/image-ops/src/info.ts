import type { BlockNode, ImageInformation, Registry } from '@blockyard/core';
import { formatOf } from './format-of.ts';

export interface InfoOptions {
  /** Format driver; without it the first bytes are looked at. */
  format?: string | undefined;
}

/** What an image says of itself, and the size of the file that it is in. The virtual size is the guest's. */
export interface ImageReport extends ImageInformation {
  fileSize: number;
}

/** Information about the image in the protocol node `file`. Opens nothing that the image names. */
export async function info(
  registry: Registry,
  file: BlockNode,
  options: InfoOptions = {},
): Promise<ImageReport> {
  const driver = await formatOf(registry, file, 'info', options.format);
  const found = driver.inspect ? await driver.inspect(file) : { format: driver.name, virtualSize: file.size };
  return { ...found, fileSize: file.size };
}
