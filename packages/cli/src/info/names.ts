import { dirname, isAbsolute, join } from 'node:path';

/** Where a name found in the image at `path` leads. */
export function fullName(name: string, path: string): string {
  if (isAbsolute(name) || /^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return name;
  return join(dirname(path), name);
}
