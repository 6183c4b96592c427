/** The asynchronous engines, best first; the names are those of QEMU's `aio` option. */
export type EngineName = 'io_uring' | 'native' | 'threads';

/** A request's memory: one buffer, or several that are filled or written in order (one kernel vector). */
export type Buffers = Uint8Array | readonly Uint8Array[];

/** `error` has `code`, `errno` and `syscall` as Node's own system errors do; `bytes` may be short. */
export type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

/**
 * Submits requests to the kernel from one environment (main thread or worker), which shares one engine of each
 * kind. Every request is one kernel request in the caller's own memory: nothing is copied, and a short count is
 * passed on. EINTR and EAGAIN are retried. Requests made in one tick enter the kernel together.
 */
export interface Engine {
  readonly name: EngineName;
  /** Requests submitted and not yet completed. */
  readonly inFlight: number;
  /**
   * With `signal`, an abort asks the kernel to cancel and the promise rejects with the signal's reason, but not
   * before the kernel has let go of the memory.
   */
  read(fd: number, position: number, into: Buffers, signal?: AbortSignal): Promise<number>;
  write(fd: number, position: number, from: Buffers, signal?: AbortSignal): Promise<number>;
  sync(fd: number, dataOnly: boolean): Promise<void>;
  /** The same without a promise, for the hottest loops. `done` is called once, never before this returns. */
  readCallback(fd: number, position: number, into: Buffers, done: Done): void;
  writeCallback(fd: number, position: number, from: Buffers, done: Done): void;
  /** Gives the engine back; the last user's close waits until nothing is in flight and frees it. */
  close(): Promise<void>;
}

/** What statx says. Sizes in bytes; times are not told, since no caller needs them. */
export interface FileStatus {
  kind: 'file' | 'block' | 'character' | 'other';
  size: number;
  /** Bytes allocated: st_blocks times 512. */
  allocated: number;
  blockSize: number;
  /** Identity of the file: equal strings, same file ("major:minor:inode"); of the device itself for block devices. */
  identity: string;
  rdevMajor: number;
  rdevMinor: number;
  /** STATX_DIOALIGN, absent where the kernel or file system does not answer; 0 means no direct I/O. */
  dioMemAlign?: number;
  dioOffsetAlign?: number;
}

export interface BlockDeviceStatus {
  size: number;
  logicalSectorSize: number;
  physicalSectorSize: number;
  readOnly: boolean;
  rotational?: boolean;
}

/** Limits of a SCSI generic device, whose requests bypass the kernel's block layer; 0 where it sets none. */
export interface ScsiGenericLimits {
  maxTransfer: number;
  maxSegments: number;
}

export type FallocateMode = 'allocate' | 'keep-size' | 'punch-hole' | 'zero-range' | 'zero-range-keep-size';
export type LockKind = 'read' | 'write' | 'unlock';

/** System calls that Node lacks, or that it has without promises on descriptors. All asynchronous; errors are Node-style. */
export interface FileCalls {
  /** `flags` as in `fs.constants`, O_CLOEXEC is added. */
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(fd: number): Promise<void>;
  status(fd: number): Promise<FileStatus>;
  blockDevice(fd: number): Promise<BlockDeviceStatus>;
  scsiGeneric(fd: number): Promise<ScsiGenericLimits>;
  blockDiscard(fd: number, offset: number, length: number): Promise<void>;
  blockZeroOut(fd: number, offset: number, length: number): Promise<void>;
  fallocate(fd: number, mode: FallocateMode, offset: number, length: number): Promise<void>;
  /** The next offset of data or of a hole at or after `offset`; -1 where there is none (ENXIO). */
  seek(fd: number, what: 'data' | 'hole', offset: number): Promise<number>;
  /** copy_file_range: bytes copied, possibly fewer than asked, 0 at the end of the source. */
  copyRange(from: number, fromOffset: number, to: number, toOffset: number, length: number): Promise<number>;
  /** FICLONERANGE; `length` 0 means to the end of the source. */
  cloneRange(from: number, fromOffset: number, to: number, toOffset: number, length: number): Promise<void>;
  truncate(fd: number, size: number): Promise<void>;
  sync(fd: number, dataOnly: boolean): Promise<void>;
  /** Open file description lock, never waited for: false when another holder is in the way. */
  lock(fd: number, kind: LockKind, start: number, length: number): Promise<boolean>;
  /** Whether a lock of this kind could be taken now by this description. */
  testLock(fd: number, kind: LockKind, start: number, length: number): Promise<boolean>;
}

/** Aligned memory. Views are taken from slabs that V8 owns: no external ArrayBuffer anywhere. */
export interface AlignedMemory {
  /** A view from the pool, contents undefined, to be given back with `release`. */
  allocate(length: number, alignment: number): Uint8Array;
  release(view: Uint8Array): void;
  /** A zeroed view of its own slab, left to the garbage collector. `exactly`: aligned to `alignment` and not to twice it. */
  create(length: number, alignment: number, options?: { exactly?: boolean; hugePages?: boolean }): Uint8Array;
  /** Whether the memory (every buffer's address and length) is a multiple of `alignment`, a power of two. */
  isAligned(data: Buffers, alignment: number): boolean;
  /** Views and bytes lent and not yet released. */
  readonly stats: { readonly lent: number; readonly lentBytes: number; readonly slabBytes: number };
}

export interface EngineProbe {
  available: boolean;
  /** Why not, in words a user can act on ("EPERM: io_uring is forbidden here (container or io_uring_disabled)"). */
  reason?: string;
}

/** What this machine can do, and why not. */
export interface Probe {
  loaded: boolean;
  /** Why the addon could not be loaded. */
  reason?: string;
  platform: string;
  kernel: string;
  pageSize: number;
  simd: 'avx512' | 'avx2' | 'sse2' | 'neon' | 'scalar' | 'none';
  engines: Record<EngineName, EngineProbe>;
  hugePages: EngineProbe;
  inflate: EngineProbe;
  zstd: EngineProbe;
}

/** zlib's decoder of raw deflate, that of Node itself or of the system's library; work is done on the worker pool. */
export interface Inflate {
  /**
   * Decodes the stream at the start of `input` into `output` and returns the bytes written; what follows the stream is
   * ignored. A stream that fills `output` may lack its end; one that holds more is refused.
   */
  decompress(input: Uint8Array, output: Uint8Array): Promise<number>;
}

/** An encoder of raw deflate that needs no library; work is done on the worker pool. */
export interface Deflate {
  /**
   * The compressed length, or 0 when it does not fit in `output`. A decoder needs a window of 2^`windowBits` bytes, 9 to
   * 15 (the default).
   */
  compress(input: Uint8Array, output: Uint8Array, windowBits?: number): Promise<number>;
}

/** The system's zstd library, opened at run time; work is done on the worker pool. */
export interface Zstd {
  /** Decompresses the first frame of `input` into `output` and returns the bytes written; what follows the frame is ignored. */
  decompress(input: Uint8Array, output: Uint8Array): Promise<number>;
  /** The compressed length, or 0 when it does not fit in `output`. */
  compress(input: Uint8Array, output: Uint8Array, level: number): Promise<number>;
}

/** Everything the addon gives. */
export interface Native {
  readonly files: FileCalls;
  readonly memory: AlignedMemory;
  /** `auto` takes the best that can be set up: io_uring, then `native` when `direct`, then threads. Any other that cannot be had throws, saying why. */
  engine(kind: EngineName | 'auto', options?: { direct?: boolean }): Engine;
  /** Index of the first byte that is not zero, or -1. */
  findNonZero(view: Uint8Array): number;
  isZero(data: Buffers): boolean;
  readonly inflate: Inflate | undefined;
  readonly deflate: Deflate;
  readonly zstd: Zstd | undefined;
}
