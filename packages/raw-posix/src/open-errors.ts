import { BlockError } from '@blockyard/core';
import { codeOf } from './system-codes.ts';

const advice: Readonly<Record<string, (readOnly: boolean) => string>> = {
  ENOENT: () => 'there is no such file; check the name, or create the image first',
  ENOTDIR: () => 'a part of the path is not a directory; check the name',
  EISDIR: () => 'it is a directory; name the file in it',
  EACCES: (readOnly) =>
    `permission denied; ${readOnly ? 'ask for the right to read it' : 'open it with readOnly: true, or ask for the right to write it'}`,
  EPERM: (readOnly) =>
    `not permitted; ${readOnly ? 'it may be sealed off by the system' : 'it may be immutable: open it with readOnly: true'}`,
  EROFS: () => 'the file system is read-only; open it with readOnly: true',
  ETXTBSY: () => 'it is a program that is running; stop it first',
  ELOOP: () => 'too many symbolic links lead to one another',
  ENXIO: () => 'there is no such device behind it',
  ENOMEDIUM: () => 'there is no medium in the drive',
  EMFILE: () => 'this process has too many open files; close some, or raise the limit (ulimit -n)',
};

/** What the system said on opening, and what to do about it. */
export function openError(cause: unknown, path: string, readOnly: boolean, direct: boolean): BlockError {
  if (cause instanceof BlockError) return cause;
  const code = codeOf(cause) ?? 'EIO';
  const how = `${readOnly ? 'reading' : 'reading and writing'}${direct ? ', direct' : ''}`;
  const noDirect =
    direct && code === 'EINVAL' ? 'this file system refuses direct I/O; use cache.direct: false' : undefined;
  const text = `open ${path} for ${how}: ${noDirect ?? advice[code]?.(readOnly) ?? String((cause as Error).message)} (${code})`;
  return new BlockError(code, text, { op: 'open', driver: 'file', path, cause });
}

export function openRefusal(code: string, path: string, text: string): BlockError {
  return new BlockError(code, `open ${path}: ${text}`, { op: 'open', driver: 'file', path });
}
