import { dirname, isAbsolute, join, resolve } from 'node:path';

/** A path that a driver made absolute, from where the user's own name of the image starts: as qemu-img shows it. */
export function shownPath(path: string, typed: string): string {
  if (!isAbsolute(path) || isAbsolute(typed) || typed.startsWith('{') || /^[a-z][a-z0-9+.-]*:/i.test(typed))
    return path;
  const from = join(resolve(dirname(typed)), '/');
  return path.startsWith(from) ? join(dirname(typed), path.slice(from.length)) : path;
}
