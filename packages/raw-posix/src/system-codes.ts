export const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
};

/** Worth asking again at once. */
export const isTransient = (error: unknown): boolean => ['EINTR', 'EAGAIN'].includes(codeOf(error) ?? '');

/** The file system or device will never do this. */
export const isUnsupported = (error: unknown): boolean =>
  ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY'].includes(codeOf(error) ?? '');

/** It will not do this for these bytes, and may for others. */
export const isRefused = (error: unknown): boolean =>
  isUnsupported(error) || ['EINVAL', 'EPERM'].includes(codeOf(error) ?? '');
