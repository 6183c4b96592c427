import type { Binding } from './binding.ts';
import { checkDescriptor, checkOffset } from './check.ts';
import { systemError } from './system-error.ts';
import type {
  BlockDeviceStatus,
  FallocateMode,
  FileCalls,
  FileStatus,
  LockKind,
  ScsiGenericLimits,
} from './types.ts';

// The order is native's (addon/file_calls.h).
const OPERATIONS = [
  'open',
  'close',
  'statx',
  'BLKGETSIZE64',
  'SG_GET_SG_TABLESIZE',
  'BLKDISCARD',
  'BLKZEROOUT',
  'fallocate',
  'lseek',
  'copy_file_range',
  'FICLONERANGE',
  'ftruncate',
  'fsync',
  'F_OFD_SETLK',
  'F_OFD_GETLK',
] as const;
type Operation = (typeof OPERATIONS)[number];
const CODES = new Map<Operation, number>(OPERATIONS.map((name, index) => [name, index]));

const KINDS: readonly FileStatus['kind'][] = ['file', 'block', 'character', 'other'];
const MODES: readonly FallocateMode[] = [
  'allocate',
  'keep-size',
  'punch-hole',
  'zero-range',
  'zero-range-keep-size',
];
const LOCKS: readonly LockKind[] = ['read', 'write', 'unlock'];
const ENXIO = -6;

function indexOf<T>(names: readonly T[], value: T, what: string): number {
  const index = names.indexOf(value);
  if (index < 0) throw new TypeError(`${what} must be one of ${names.join(', ')}, got ${String(value)}`);
  return index;
}

function checkOffsets(offsets: Record<string, number>): void {
  for (const [name, value] of Object.entries(offsets)) checkOffset(name, value);
}

export function fileCalls(native: Binding): FileCalls {
  const raw = (operation: Operation, ...numbers: [number, ...number[]]) => {
    checkDescriptor(numbers[0]);
    const [a, b = 0, c = 0, d = 0, e = 0] = numbers;
    return native.fileCall(CODES.get(operation) as number, '', a, b, c, d, e);
  };
  const number = async (operation: Operation, ...numbers: [number, ...number[]]): Promise<number> => {
    const result = (await raw(operation, ...numbers)) as number;
    if (result < 0) throw systemError(result, operation);
    return result;
  };
  const several = async (operation: Operation, fd: number): Promise<unknown[]> => {
    const result = await raw(operation, fd);
    if (typeof result === 'number') throw systemError(result, operation);
    return result;
  };

  return {
    async open(path, flags, mode = 0o666) {
      if (typeof path !== 'string' || path.includes('\0'))
        throw new TypeError('path must be a string without null bytes');
      checkOffsets({ flags, mode });
      const fd = (await native.fileCall(0, path, flags, mode)) as number;
      if (fd < 0) throw systemError(fd, 'open', path);
      return fd;
    },

    async close(fd) {
      await number('close', fd);
    },

    async status(fd) {
      const [identity, kind, size, allocated, blockSize, rdevMajor, rdevMinor, mem, offset] = (await several(
        'statx',
        fd,
      )) as [string, number, number, number, number, number, number, number?, number?];
      const status: FileStatus = {
        kind: KINDS[kind] as FileStatus['kind'],
        size,
        allocated,
        blockSize,
        identity,
        rdevMajor,
        rdevMinor,
      };
      if (mem !== undefined && offset !== undefined) {
        status.dioMemAlign = mem;
        status.dioOffsetAlign = offset;
      }
      return status;
    },

    async blockDevice(fd) {
      const [size, logicalSectorSize, physicalSectorSize, readOnly, rotational] = (await several(
        'BLKGETSIZE64',
        fd,
      )) as [number, number, number, number, number?];
      const status: BlockDeviceStatus = {
        size,
        logicalSectorSize,
        physicalSectorSize,
        readOnly: readOnly !== 0,
      };
      if (rotational !== undefined) status.rotational = rotational !== 0;
      return status;
    },

    async scsiGeneric(fd): Promise<ScsiGenericLimits> {
      const [maxTransfer, maxSegments] = (await several('SG_GET_SG_TABLESIZE', fd)) as [number, number];
      return { maxTransfer, maxSegments };
    },

    async blockDiscard(fd, offset, length) {
      checkOffsets({ offset, length });
      await number('BLKDISCARD', fd, offset, length);
    },

    async blockZeroOut(fd, offset, length) {
      checkOffsets({ offset, length });
      await number('BLKZEROOUT', fd, offset, length);
    },

    async fallocate(fd, mode, offset, length) {
      checkOffsets({ offset, length });
      await number('fallocate', fd, indexOf(MODES, mode, 'mode'), offset, length);
    },

    async seek(fd, what, offset) {
      checkOffset('offset', offset);
      const found = (await raw('lseek', fd, indexOf(['data', 'hole'], what, 'what'), offset)) as number;
      if (found === ENXIO) return -1;
      if (found < 0) throw systemError(found, 'lseek');
      return found;
    },

    async copyRange(from, fromOffset, to, toOffset, length) {
      checkOffsets({ fromOffset, toOffset, length });
      checkDescriptor(to);
      return number('copy_file_range', from, fromOffset, to, toOffset, length);
    },

    async cloneRange(from, fromOffset, to, toOffset, length) {
      checkOffsets({ fromOffset, toOffset, length });
      checkDescriptor(to);
      await number('FICLONERANGE', from, fromOffset, to, toOffset, length);
    },

    async truncate(fd, size) {
      checkOffset('size', size);
      await number('ftruncate', fd, size);
    },

    async sync(fd, dataOnly) {
      await number('fsync', fd, dataOnly ? 1 : 0);
    },

    async lock(fd, kind, start, length) {
      checkOffsets({ start, length });
      return (await number('F_OFD_SETLK', fd, indexOf(LOCKS, kind, 'kind'), start, length)) === 1;
    },

    async testLock(fd, kind, start, length) {
      checkOffsets({ start, length });
      return (await number('F_OFD_GETLK', fd, indexOf(LOCKS, kind, 'kind'), start, length)) === 1;
    },
  };
}
