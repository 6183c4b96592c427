import { getSystemErrorMap } from 'node:util';

const names = getSystemErrorMap();

/** An error like Node's own for system calls. `errno` is negative, as libuv's are. */
export function systemError(errno: number, syscall: string, path?: string): NodeJS.ErrnoException {
  const [code, text] = names.get(errno) ?? [`E${-errno}`, 'unknown error'];
  const error: NodeJS.ErrnoException = new Error(
    `${code}: ${text}, ${syscall}${path === undefined ? '' : ` '${path}'`}`,
  );
  error.errno = errno;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  return error;
}
