import type { IoData, Memory } from '@blockyard/core';
import type { BlockDeviceStatus, EngineName, FileCalls, FileStatus } from '@blockyard/native';
import type { AioOption } from './options.ts';

/** An open descriptor and the engine that serves it. Errors are Node-style system errors; counts may be short. */
export interface HostFile {
  readonly fd: number;
  readonly engine: EngineName;
  /** The calls that node:fs does not have: ranges, holes, locks. Undefined without the native addon. */
  readonly calls: FileCalls | undefined;
  read(position: number, into: IoData, signal: AbortSignal | undefined): Promise<number>;
  write(position: number, from: IoData, signal: AbortSignal | undefined): Promise<number>;
  sync(dataOnly: boolean): Promise<void>;
  status(): Promise<FileStatus>;
  blockDevice(): Promise<BlockDeviceStatus>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** Where files come from: the native addon, or node:fs alone. */
export interface Host {
  readonly name: 'native' | 'node:fs';
  readonly pageSize: number;
  /** Whether it has `HostFile.calls`. */
  readonly hasCalls: boolean;
  /** Why there is nothing better; undefined when this is the best. */
  readonly reason: string | undefined;
  /** Memory whose alignment is known. @throws where none can be had. */
  memory(): Memory;
  open(
    path: string,
    flags: number,
    settings: { aio: AioOption; direct: boolean; mode?: number },
  ): Promise<HostFile>;
}
