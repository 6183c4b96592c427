import type { NodeOptions } from './driver.ts';
import { BlockError } from './errors.ts';
import { validateOptions } from './options/validate.ts';
import type { Registry } from './registry.ts';
import { checkByteCount } from './request/arguments.ts';

/** A new image: its size, where it is not raw its format, and the options of that format. */
export interface ImageCreation {
  /** Bytes of the disk. */
  size: number;
  /** Driver name (default 'raw'). */
  format?: string | undefined;
  /** Replace what is there. */
  overwrite?: boolean | undefined;
  /** How space is provided (default 'off': a hole). */
  preallocation?: 'off' | 'metadata' | 'falloc' | 'full' | undefined;
  [option: string]: unknown;
}

/** Makes the file through its protocol driver, and the image in it through the format's. */
export async function createImage(
  registry: Registry,
  file: NodeOptions,
  creation: ImageCreation,
): Promise<void> {
  const { format = 'raw', overwrite = false, size, ...options } = creation;
  checkByteCount('size', size);
  const protocol = registry.driver(file.driver);
  validateOptions(file, protocol.name, protocol.options, '');
  const formatDriver = registry.driver(format, 'format');
  const raw = format === 'raw';
  if (!protocol.createFile) throw cannot(protocol.name, 'make files; open one that exists');
  if (!raw && !formatDriver.create) throw cannot(format, 'make images; make it raw, or with another tool');
  const { preallocation = 'off' } = creation;
  await protocol.createFile(file, {
    size: raw ? size : 0,
    exclusive: !overwrite,
    ...(raw ? { preallocation } : {}),
  });
  if (raw || !formatDriver.create) return;
  const target = await registry.openNode({ ...file, readOnly: false });
  try {
    await formatDriver.create(target, { ...options, size });
    await target.flush();
  } finally {
    await target.close();
  }
}

function cannot(driver: string, what: string): BlockError {
  return new BlockError('ERR_NOT_SUPPORTED', `create: the driver '${driver}' cannot ${what}`, {
    op: 'create',
    driver,
  });
}
