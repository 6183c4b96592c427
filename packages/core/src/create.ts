import { NewFiles } from './create/new-files.ts';
import { sizeOfBacking } from './create/size-of-backing.ts';
import type { BlockDriver, NodeOptions } from './driver.ts';
import { BlockError } from './errors.ts';
import { checkOptions, validateOptions } from './options/validate.ts';
import type { Registry } from './registry.ts';
import { checkByteCount } from './request/arguments.ts';

/** A new image: its size, where it is not raw its format, and the options of that format. */
export interface ImageCreation {
  /** Bytes of the disk. Left out, it is as large as the backing image that the options name. */
  size?: number | undefined;
  /** Driver name (default 'raw'). */
  format?: string | undefined;
  /** Replace what is there, also of files that the image needs besides its own. */
  overwrite?: boolean | undefined;
  /** How space is provided (default 'off': a hole). */
  preallocation?: 'off' | 'metadata' | 'falloc' | 'full' | undefined;
  signal?: AbortSignal | undefined;
  [option: string]: unknown;
}

/**
 * Makes the file through its protocol driver, and the image in it through the format's. Wrong options are refused
 * before anything is touched; what was made and cannot be finished is removed again.
 */
export async function createImage(
  registry: Registry,
  file: NodeOptions,
  creation: ImageCreation,
): Promise<void> {
  const {
    format = 'raw',
    overwrite = false,
    size: given,
    preallocation = 'off',
    signal,
    ...options
  } = creation;
  const protocol = registry.driver(file.driver);
  validateOptions(file, protocol.name, protocol.options, '');
  const driver = registry.driver(format, 'format');
  if (!protocol.createFile) throw cannot(protocol.name, 'make files; open one that exists');
  if (format !== 'raw' && !driver.create)
    throw cannot(format, 'make images; make it raw, or with another tool');
  checkOptions(options, `a new ${format} image`, driver.createOptions ?? {});
  const size = given ?? (await sizeOfBacking(registry, file, options));
  checkByteCount('size', size);
  const files = new NewFiles(registry, file, overwrite, signal);
  const { create } = driver;
  if (format === 'raw' || !create) return await files.make(file, size, preallocation);
  const image = { ...options, size, preallocation };
  refuse(driver, image);
  await files.make(file, 0, 'off');
  try {
    const target = await registry.openNode({ ...file, readOnly: false }, { signal });
    try {
      const createFile = files.createFor(target);
      await create.call(driver, target, image, { registry, signal, createFile });
      await target.flush();
    } finally {
      await target.close();
    }
  } catch (error) {
    await files.remove();
    throw error;
  }
}

/** Measuring an image takes the options that making one does, and refuses those that contradict each other. */
function refuse(driver: BlockDriver, image: { size: number }): void {
  driver.measure?.(image, { allocated: () => 0 });
}

function cannot(driver: string, what: string): BlockError {
  return new BlockError('ERR_NOT_SUPPORTED', `create: the driver '${driver}' cannot ${what}`, {
    op: 'create',
    driver,
  });
}
