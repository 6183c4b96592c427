import { fileURLToPath } from 'node:url';
import { BlockError } from '@blockyard/core';

/** The path that a name stands for: a path as it is, `file:///path` as a URL, `file:path` as QEMU writes it. */
export function filenameOf(name: string): string {
  if (/^file:\/\//i.test(name)) {
    try {
      return fileURLToPath(name);
    } catch (cause) {
      const text = `open ${name}: not a file URL (${(cause as Error).message}); write file:///path, or the path itself`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'open', driver: 'file', path: name, cause });
    }
  }
  return name.startsWith('file:') ? name.slice(5) : name;
}
