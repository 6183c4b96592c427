import type { Operation } from './guest/operations.ts';
import type { Setup } from './setup/setup.ts';

const usual: Setup = {
  version: 3,
  clusterSize: 65536,
  refcountBits: 16,
  extendedL2: false,
  lazyRefcounts: false,
  compressionType: 'zlib',
  dataFile: 'none',
  backing: 'none',
  size: 655360,
  discard: 'unmap',
  discardNoUnref: false,
  detectZeroes: 'off',
  cacheSize: undefined,
  overlapCheck: 'cached',
};

/** What once went wrong, as short as it could be made. */
export const regressions: { what: string; setup: Setup; list: Operation[] }[] = [
  {
    what: 'zeroes at the end of a disk that ends within the first part of a cluster leave what is before them',
    setup: { ...usual, extendedL2: true, dataFile: 'raw', discardNoUnref: true, detectZeroes: 'unmap' },
    list: [
      { kind: 'resize', size: 1, preallocation: 'off' },
      { kind: 'write', at: 0, length: 0, unit: 'byte', seed: 1 },
      { kind: 'write', at: 500, length: 0, unit: 'sector', seed: 1006375 },
    ],
  },
  {
    what: 'where the snapshot table was when the image was opened can be used when it has moved',
    setup: { ...usual, clusterSize: 512, size: 38400 },
    list: [
      { kind: 'snapshot', which: 2 },
      { kind: 'reopen' },
      { kind: 'snapshot', which: 3 },
      { kind: 'write', at: 539, length: 651, unit: 'byte', seed: 559826 },
    ],
  },
  {
    what: 'and can hold the tables of the next snapshot',
    setup: { ...usual, version: 2, size: 1179648, detectZeroes: 'unmap' },
    list: [
      { kind: 'snapshot', which: 6 },
      { kind: 'reopen' },
      { kind: 'write', at: 731, length: 185, unit: 'sector', seed: 579636 },
      { kind: 'snapshot', which: 4 },
      { kind: 'discard', at: 710, length: 897, unit: 'byte', seed: 883240 },
      { kind: 'snapshot', which: 3 },
    ],
  },
];
