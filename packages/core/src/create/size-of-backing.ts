import type { NodeOptions } from '../driver.ts';
import { BlockError } from '../errors.ts';
import type { Registry } from '../registry.ts';
import { beside } from './beside.ts';

/**
 * Bytes of the disk that a new image is to be based on. It is the caller who names it: it is looked at, and nothing
 * that it names itself is opened.
 */
export async function sizeOfBacking(
  registry: Registry,
  image: NodeOptions,
  options: Record<string, unknown>,
): Promise<number> {
  const { backingFile: name, backingFormat: format } = options;
  if (typeof name !== 'string' || typeof format !== 'string') {
    throw new BlockError(
      'ERR_INVALID_OPTION',
      'size: a new image needs its size, unless backingFile and backingFormat name an image to take it from',
      { op: 'create' },
    );
  }
  const file = beside(registry, image, name);
  const { virtualSize } = await registry.inspect({ driver: format, file });
  return virtualSize;
}
