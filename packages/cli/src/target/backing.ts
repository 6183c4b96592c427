import { BlockError, type BlockNode, type NodeOptions, probeFormat, type Registry } from '@blockyard/core';
import { fullName } from '../info/names.ts';
import { checkFormat, policyOf } from '../open/source.ts';
import { withoutForceShare } from '../words.ts';

/** What is behind an image, as the image is to say it. */
export interface BackingName {
  name: string;
  format: string | undefined;
}

export interface BackingSettings {
  /** 'create', 'rebase', ...: for messages. */
  op: string;
  /** Path of the image; a relative name starts there. */
  image: string;
  references?: string | undefined;
  probe?: boolean | undefined;
  signal: AbortSignal;
}

/**
 * Opens the image that another is to name as its backing file, as that one will find it.
 * @throws BlockError ERR_FORMAT_REQUIRED without a format, telling what it seems to be.
 */
export async function openBacking(
  { name, format }: BackingName,
  registry: Registry,
  { op, image, references, probe, signal }: BackingSettings,
): Promise<BlockNode> {
  const file = registry.parseName(fullName(name, image));
  const settings = { references: policyOf(references), probe, signal };
  if (format === undefined) throw await formatMissing(name, file, registry, op, image);
  checkFormat(registry, format);
  try {
    return await registry.openNode({ driver: format, readOnly: true, file } as NodeOptions, settings);
  } catch (error) {
    throw withoutForceShare(error);
  }
}

/** Who records no format lets every reader guess, and the guest write what is guessed. */
async function formatMissing(
  name: string,
  file: NodeOptions,
  registry: Registry,
  op: string,
  image: string,
): Promise<BlockError> {
  const node = await registry.openNode({ ...file, readOnly: true });
  try {
    const seems = await probeFormat(node, registry.drivers.values()).catch(() => undefined);
    return backingFormatMissing(name, op, image, seems);
  } finally {
    await node.close();
  }
}

export function backingFormatMissing(name: string, op: string, image: string, seems?: string): BlockError {
  const hint = seems === undefined ? '-F qcow2, or raw' : `-F ${seems}, which it seems to be`;
  const text = `${op} ${image}: the format of the backing file ${name} is not said; say it (${hint})`;
  return new BlockError('ERR_FORMAT_REQUIRED', text, { op, path: image });
}
