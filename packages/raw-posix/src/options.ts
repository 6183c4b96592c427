import type { OptionSpecs } from '@blockyard/core';

export type AioOption = 'auto' | 'io_uring' | 'native' | 'threads';
export type LockingOption = 'auto' | 'on' | 'off';

/** What the driver 'file' takes besides the common options. */
export interface FileOptions {
  /** A regular file, a block device or a SCSI generic device. */
  filename: string;
  /** How requests reach the kernel; `auto` takes the best that can be set up. */
  aio?: AioOption;
  /** Locks that QEMU understands; `auto` takes them where the system has them. */
  locking?: LockingOption;
  /** Read an image that somebody else writes; needs `readOnly`. What is read may be inconsistent. */
  forceShare?: boolean;
  /** First byte of the window on the file. */
  offset?: number;
  /** Bytes of the window; to the end of the file without it. */
  size?: number;
}

export const fileOptions = {
  filename: { type: 'string', required: true, help: 'path of a file, block device or /dev/sg device' },
  aio: {
    type: 'enum',
    values: ['auto', 'io_uring', 'native', 'threads'],
    help: 'how requests reach the kernel (default auto: the best that can be set up); native needs cache.direct',
  },
  locking: {
    type: 'enum',
    values: ['auto', 'on', 'off'],
    help: 'locks that QEMU understands (default auto: where the system has them)',
  },
  forceShare: {
    type: 'boolean',
    help: 'read an image that is in use by a writer; needs readOnly (default false)',
  },
  offset: { type: 'size', help: 'first byte of the window (default 0)' },
  size: { type: 'size', help: 'bytes of the window (default: to the end)' },
} as const satisfies OptionSpecs;
