import { type BlockDriver, BlockError, type BlockNode, probeFormat, type Registry } from '@blockyard/core';

/** The format driver of the name given, or of what the first bytes look like. */
export async function formatOf(
  registry: Registry,
  file: BlockNode,
  op: string,
  name?: string,
): Promise<BlockDriver> {
  const format = name ?? (await probeFormat(file, registry.drivers.values()));
  const driver = registry.drivers.get(format);
  if (driver?.kind === 'format') return driver as BlockDriver;
  const formats = [...registry.drivers.values()]
    .filter(({ kind }) => kind === 'format')
    .map(({ name }) => name);
  const text = `${op} ${file.path}: no format driver named '${format}' is registered; there are ${formats.join(', ')}`;
  throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op, path: file.path || undefined });
}
