import { codeOf } from './system-codes.ts';

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'free space on its file system, then write again',
  EDQUOT: 'the quota is used up: free space or raise it, then write again',
  EFBIG: 'its file system, or the limit of this process (ulimit -f), allows no file of that size',
  EIO: 'the disk is failing or gone (dmesg says more)',
  EROFS: 'its file system has become read-only, often after an error of the disk (dmesg says more)',
};

/** The system's error with what to do next in its message; another error as it is. */
export function advised(error: unknown): unknown {
  const next = advice[codeOf(error) ?? ''];
  if (next === undefined || !(error instanceof Error)) return error;
  return Object.assign(new Error(`${error.message}; ${next}`, { cause: error }), { code: codeOf(error) });
}
