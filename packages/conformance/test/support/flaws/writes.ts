import { byteLength, elements, fill, flatten } from '@blockyard/iov-utils';
import { turn } from '../store.ts';
import { type Flaw, transfer } from './kit.ts';

export const writes: Flaw[] = [
  transfer(
    'forgets every third write',
    [
      'write/alignments',
      'write/onto-nothing',
      'write/vectors',
      'write/memory-addresses',
      'concurrent/neighbours',
      'random/requests',
      'flush/among-writes',
    ],
    '_write',
    () => {
      let count = 0;
      return (_, write, ...args) => (++count % 3 === 0 ? undefined : write(...args));
    },
  ),
  transfer(
    'forgets every write',
    [
      'write/whole',
      'lifecycle/reopen',
      'status/after-write',
      'streams/writable',
      'streams/writable-too-long',
      'resize/grow',
      'discard/then-write',
    ],
    '_write',
    () => () => undefined,
  ),
  transfer(
    'writes only the first buffer',
    ['write/vectors', 'random/requests'],
    '_write',
    () => (_, write, offset, from, options) => write(offset, elements(from)[0] as Uint8Array, options),
  ),
  transfer(
    'writes from odd addresses to the wrong place',
    ['write/memory-addresses'],
    '_write',
    () => (_, write, offset, from, options) => {
      const [first] = elements(from) as [Uint8Array];
      return write(
        offset + (first.byteOffset % 8 && offset + byteLength(from) < 5000 ? 1 : 0),
        from,
        options,
      );
    },
  ),
  transfer(
    "clears the caller's memory",
    ['write/source-untouched'],
    '_write',
    () => async (_, write, offset, from, options) => {
      await write(offset, from, options);
      fill(from, 0);
    },
  ),
  transfer(
    'takes the bytes of a write after it has settled',
    ['write/source-untouched', 'abort/write'],
    '_write',
    () =>
      (_, write, ...args) => {
        void turn().then(() => write(...args));
      },
  ),
  transfer(
    'writes one byte when asked for none',
    ['write/zero-length'],
    'write',
    () =>
      (node, write, ...args) => {
        if (byteLength(args[1]) === 0) node.store.bytes[0] = 1;
        return write(...args);
      },
  ),
  transfer(
    'does not store zero bytes',
    ['write/zero-bytes', 'detect-zeroes/off'],
    '_write',
    () =>
      (_, write, ...args) =>
        flatten(args[1]).every((byte) => byte === 0) ? undefined : write(...args),
  ),
  transfer(
    'reads, changes and writes blocks in no order',
    ['concurrent/neighbours'],
    '_write',
    () => async (node, write, offset, from, options) => {
      const start = offset - (offset % 512);
      const block = node.store.bytes.slice(start, Math.ceil((offset + byteLength(from)) / 512) * 512);
      block.set(flatten(from), offset - start);
      await turn();
      return await write(start, block, options);
    },
  ),
  transfer('mixes the bytes of overlapping writes', ['concurrent/overlapping'], '_write', () => {
    let inFlight = 0;
    return async (_, write, offset, from, options) => {
      inFlight++;
      await write(offset, inFlight > 1 ? flatten(from).map((byte) => byte ^ 0x80) : from, options);
      inFlight--;
    };
  }),
  {
    what: 'reads zeroes while a write is under way',
    found: ['concurrent/readers-and-writers'],
    node(node) {
      const { _read, _write } = node as unknown as Record<
        '_read' | '_write',
        (...args: unknown[]) => Promise<void>
      >;
      let writing = 0;
      Object.assign(node, {
        async _write(...args: unknown[]) {
          writing++;
          await _write.apply(node, args);
          await turn();
          writing--;
        },
        async _read(offset: number, into: Uint8Array) {
          if (writing > 0) into.fill(0);
          else await _read.call(node, offset, into);
        },
      });
    },
  },
  transfer(
    'fills the rest of a fresh block with rubbish',
    ['write/onto-nothing'],
    '_write',
    () => (node, write, offset, from, options) => {
      const start = offset - (offset % 512);
      const block = node.store.bytes.subarray(start, start + 512);
      if (block.every((byte) => byte === 0)) block.fill(0xcd);
      return write(offset, from, options);
    },
  ),
  transfer(
    'loses writes of 16 KiB',
    ['limits/narrow'],
    '_write',
    () =>
      (_, write, ...args) =>
        byteLength(args[1]) === 16_384 ? undefined : write(...args),
  ),
  transfer(
    'damages the byte before a write that may be aborted',
    ['abort/write'],
    '_write',
    () =>
      (node, write, ...args) => {
        if (args[2].signal && args[0] > 0) node.store.bytes[args[0] - 1] = 0;
        return write(...args);
      },
  ),
];
