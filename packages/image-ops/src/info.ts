import {
  BlockError,
  type BlockNode,
  type ImageInformation,
  probeFormat,
  type Registry,
} from '@blockyard/core';

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
  const format = options.format ?? (await probeFormat(file, registry.drivers.values()));
  const driver = registry.drivers.get(format);
  if (driver?.kind !== 'format') {
    const formats = [...registry.drivers.values()]
      .filter(({ kind }) => kind === 'format')
      .map(({ name }) => name);
    const text = `info ${file.path}: no format driver named '${format}' is registered; there are ${formats.join(', ')}`;
    throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op: 'info', path: file.path || undefined });
  }
  const found = driver.inspect ? await driver.inspect(file) : { format, virtualSize: file.size };
  return { ...found, fileSize: file.size };
}
