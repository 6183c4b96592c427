import type { FileStatus } from '@blockyard/native';
import type { Host, HostFile } from './host.ts';

/** What opening found out. */
export interface Opened {
  readonly host: Host;
  readonly file: HostFile;
  readonly kind: 'file' | 'block';
  /** As it was given. */
  readonly filename: string;
  readonly absolute: string;
  readonly direct: boolean;
  /** Whether others see that the file is in use. */
  readonly locked: boolean;
  /** First byte of the window. */
  readonly start: number;
  /** Bytes of the window, where one was asked for. */
  readonly window: number | undefined;
  /** Bytes of the file or device. */
  readonly fileSize: number;
  /** Logical sector of a block device; 1 for files. */
  readonly sector: number;
  readonly status: FileStatus;
}
