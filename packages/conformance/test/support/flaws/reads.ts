import { byteLength, copyFrom, elements } from '@blockyard/iov-utils';
import { turn } from '../store.ts';
import { type Flaw, transfer } from './kit.ts';

export const reads: Flaw[] = [
  transfer(
    'reads one byte off',
    [
      'read/alignments',
      'read/whole',
      'read/into-memory',
      'read/vectors',
      'read/many-buffers',
      'read/concurrent',
      'streams/readable',
      'random/reads',
      'abort/one-of-many',
    ],
    '_read',
    () => (_, read, offset, into, options) => read(offset + 1, into, options),
  ),
  transfer(
    'settles a read before the bytes are there',
    ['read/settled'],
    '_read',
    () =>
      (_, read, ...args) => {
        void read(...args);
      },
  ),
  transfer(
    'touches the memory of a read again',
    ['read/settled', 'abort/read'],
    '_read',
    () => async (_, read, offset, into, options) => {
      await read(offset, into, options);
      void turn().then(() => read(offset, into, options));
    },
  ),
  transfer(
    'writes behind the memory of a read',
    ['read/into-memory'],
    '_read',
    () => async (_, read, offset, into, options) => {
      await read(offset, into, options);
      const last = elements(into).at(-1) as Uint8Array;
      new Uint8Array(last.buffer)[last.byteOffset + last.length] = 1;
    },
  ),
  transfer(
    'writes before the memory of a read',
    ['read/into-memory'],
    '_read',
    () => async (_, read, offset, into, options) => {
      await read(offset, into, options);
      const [first] = elements(into) as [Uint8Array];
      if (first.byteOffset > 0) new Uint8Array(first.buffer)[first.byteOffset - 1] = 1;
    },
  ),
  {
    what: 'gives two readers the same memory',
    found: ['read/own-memory'],
    node(node) {
      const shared = new Uint8Array(1 << 20);
      Object.assign(node, {
        memory: { ...node.memory, create: (length: number) => shared.subarray(0, length) },
      });
    },
  },
  transfer(
    'changes a byte when it is read',
    ['read/repeatable'],
    '_read',
    () =>
      async (node, read, ...args) => {
        await read(...args);
        if (node.size > 7) node.store.bytes[7] = 99;
      },
  ),
  transfer('mixes up reads that run at once', ['read/concurrent'], '_read', () => {
    const scratch = new Uint8Array(1 << 20);
    return async (_, read, offset, into, options) => {
      const length = byteLength(into);
      await read(offset, scratch.subarray(0, length), options);
      await turn();
      copyFrom(into, scratch.subarray(0, length));
    };
  }),
  transfer('fails for an empty read', ['read/zero-length'], 'read', () => (_, read, ...args) => {
    if (byteLength(args[1]) === 0) throw new Error('nothing to read');
    return read(...args);
  }),
  transfer(
    'reads only into the first buffer',
    ['read/vectors', 'read/many-buffers'],
    '_read',
    () => (_, read, offset, into, options) => read(offset, elements(into)[0] as Uint8Array, options),
  ),
  transfer('cannot read after a large read', ['streams/cancelled', 'read/repeatable'], '_read', () => {
    let broken = false;
    return (_, read, ...args) => {
      if (broken) throw new Error('no more');
      broken = byteLength(args[1]) > 100_000;
      return read(...args);
    };
  }),
  {
    ...transfer(
      'never settles a read',
      ['read/alignments', 'abort/read'],
      '_read',
      () => () => new Promise(() => {}),
    ),
    settings: { timeout: 200 },
  },
];
