import type { BlockNode, CheckOptions, CheckResult, Registry } from '@blockyard/core';
import { formatOf } from './format-of.ts';
import { checkWritable, refuse } from './refuse.ts';

export interface ImageCheckOptions extends CheckOptions {
  /** Format driver; without it the first bytes are looked at. */
  format?: string | undefined;
}

/** Whether the metadata of the image in the protocol node `file` is sound. Opens nothing that the image names. */
export async function check(
  registry: Registry,
  file: BlockNode,
  options: ImageCheckOptions = {},
): Promise<CheckResult> {
  const { format, ...rest } = options;
  const driver = await formatOf(registry, file, 'check', format);
  if (!driver.check) {
    throw refuse(
      'ERR_NOT_SUPPORTED',
      'check',
      file,
      `images of the format '${driver.name}' have nothing to check`,
    );
  }
  if (options.repair) checkWritable('check', file);
  return await driver.check(file, rest);
}
