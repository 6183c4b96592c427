const brand: unique symbol = Symbol.for('@blockyard/core/BlockError') as never;

/** Where an error came from; every field is optional and none is needed to handle the error. */
export interface BlockErrorDetails {
  /** Name of the driver that met the error. */
  driver?: string | undefined;
  /** Name of the node in the graph. */
  node?: string | undefined;
  /** What was being done: 'open', 'read', 'write', ... */
  op?: string | undefined;
  /** File, device or URL. */
  path?: string | undefined;
  /** First byte of the request or of the bad structure. */
  offset?: number | undefined;
  /** Bytes of the request. */
  length?: number | undefined;
  cause?: unknown;
}

/** `system`: the operating system or a peer said so. `image`: what is stored is wrong. `state`: not now. `usage`: not so. */
export type BlockErrorKind = 'system' | 'image' | 'state' | 'usage';

/** Ours, each with a heading in docs/errors.md. Codes are stable; messages may improve. */
export const errorKinds = {
  ERR_CORRUPT: 'image',
  ERR_DENIED_REFERENCE: 'usage',
  ERR_DETECT_ZEROES: 'usage',
  ERR_FORMAT_REQUIRED: 'usage',
  ERR_IMAGE_TRUNCATED: 'image',
  ERR_IN_USE: 'state',
  ERR_INVALID_IMAGE: 'image',
  ERR_INVALID_OPTION: 'usage',
  ERR_NODE_CLOSED: 'state',
  ERR_NOT_SUPPORTED: 'usage',
  ERR_OUT_OF_BOUNDS: 'usage',
  ERR_PROBED_RAW: 'state',
  ERR_READ_ONLY: 'state',
  ERR_REFERENCE_CHAIN: 'image',
  ERR_UNKNOWN_DRIVER: 'usage',
  ERR_UNSUPPORTED_FEATURE: 'image',
  ERR_VERIFY: 'state',
  ERR_TARGET_EXISTS: 'usage',
} as const satisfies Record<string, BlockErrorKind>;

export type BlockErrorCode = keyof typeof errorKinds;

/**
 * Every failure of the block layer that is not a misuse by the programmer (those are TypeError and RangeError).
 * `code` is an errno name ('ENOSPC') for what the system said, or one of `errorKinds`.
 */
export class BlockError extends Error {
  override readonly name = 'BlockError';
  readonly code: string;
  readonly kind: BlockErrorKind;
  readonly driver?: string | undefined;
  readonly node?: string | undefined;
  readonly op?: string | undefined;
  readonly path?: string | undefined;
  readonly offset?: number | undefined;
  readonly length?: number | undefined;

  constructor(code: BlockErrorCode | (string & {}), message: string, details: BlockErrorDetails = {}) {
    const { cause, ...fields } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.kind = (errorKinds as Record<string, BlockErrorKind>)[code] ?? 'system';
    Object.assign(this, fields);
  }

  get [brand](): true {
    return true;
  }

  /** Holds across copies of this package in one program. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true;
  }
}

/** Wraps what the system said, keeping its errno name; an error that is already ours passes through. */
export function systemError(cause: unknown, doing: string, details: BlockErrorDetails = {}): BlockError {
  if (cause instanceof BlockError) return cause;
  const { code, message } = cause as { code?: unknown; message?: unknown };
  const errno = typeof code === 'string' ? code : 'EIO';
  return new BlockError(errno, `${doing}: ${String(message ?? cause)}`, { ...details, cause });
}
