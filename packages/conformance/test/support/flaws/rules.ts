import { BlockError } from '@blockyard/core';
import { turn } from '../store.ts';
import { around, define, type Flaw, type Options, type Span, span, type Transfer, transfer } from './kit.ts';

type Truncate = [size: number, options: { shrink?: boolean }];

const truncate = (
  what: string,
  found: readonly string[],
  name: string,
  change: (original: (...args: Truncate) => unknown, ...args: Truncate) => unknown,
): Flaw => ({
  what,
  found,
  node: (node) => around<Truncate>(node, name, change),
});

export const sizes: Flaw[] = [
  {
    what: 'has another size than it was made with',
    found: ['lifecycle/size'],
    node: (node) => define(node, 'size', () => node.store.bytes.length - 1),
  },
  {
    what: 'grows with rubbish',
    found: ['resize/grow', 'random/resize'],
    node: (node) =>
      around<Truncate>(node, '_truncate', async (resize, size, options) => {
        const before = node.size;
        await resize(size, options);
        node.store.bytes.fill(0xcd, before);
      }),
  },
  {
    what: 'brings back what was cut off',
    found: ['resize/shrink'],
    node(node) {
      let longest: Uint8Array = new Uint8Array(0);
      around<Truncate>(node, '_truncate', async (_, size) => {
        if (node.size > longest.length) longest = node.store.bytes;
        else longest.set(node.store.bytes);
        node.store.bytes = new Uint8Array(size);
        node.store.bytes.set(longest.subarray(0, size));
      });
    },
  },
  truncate('shrinks unasked', ['resize/shrink-unsaid'], 'truncate', (resize, size, options) =>
    resize(size, { ...options, shrink: true }),
  ),
  truncate('rounds its size up to sectors', ['resize/any-size'], '_truncate', (resize, size, options) =>
    resize(Math.ceil(size / 512) * 512, options),
  ),
  truncate('cannot become empty', ['resize/to-nothing'], '_truncate', (resize, size, options) => {
    if (size === 0) throw new Error('empty');
    return resize(size, options);
  }),
  {
    what: 'forgets its new size when it is closed',
    found: ['resize/persists'],
    node(node) {
      const { size } = node;
      Object.assign(node, {
        _close: () => {
          node.store.bytes = node.store.bytes.slice(0, size);
        },
      });
    },
  },
  {
    ...truncate('does as if it had resized', ['resize/unsupported'], 'truncate', () => undefined),
    supports: { resize: false },
    declared: { resize: false },
  },
];

export const permissions: Flaw[] = [
  {
    what: 'writes though it was opened read-only',
    found: ['read-only/refuses'],
    node: (node) =>
      around<Transfer>(node, 'write', (_, ...args) =>
        (node as unknown as Record<string, (...args: unknown[]) => unknown>)._write?.(...args),
      ),
  },
  {
    what: 'does not say that it is read-only',
    found: ['read-only/refuses'],
    node: (node) => Object.assign(node, { readOnly: false }),
  },
  {
    ...transfer(
      'swallows writes that it cannot do',
      ['read-only/unsupported'],
      'write',
      () => () => undefined,
    ),
    supports: { write: false, discard: false, writeZeroes: false, resize: false, fua: false },
    declared: { write: false, discard: false, writeZeroes: false, resize: false, fua: false, store: false },
  },
  {
    what: 'reads nothing when read-only',
    found: ['read-only/reopened'],
    node: (node) =>
      around<Transfer>(node, '_read', (read, ...args) => (node.readOnly ? undefined : read(...args))),
  },
  {
    what: 'detects no zeroes',
    found: ['detect-zeroes/on', 'detect-zeroes/unmap'],
    node: (node) => Object.assign(node, { common: { ...node.common, detectZeroes: 'off' } }),
  },
  {
    what: 'detects zeroes unasked',
    found: ['detect-zeroes/off'],
    node: (node) => Object.assign(node, { common: { ...node.common, detectZeroes: 'on' } }),
  },
];

const withoutSignal = ({ signal: _, ...options }: Options = {}): Options => options;

export const aborts: Flaw[] = [
  transfer(
    'reads though it was aborted',
    ['abort/before'],
    'read',
    () => (_, read, offset, into, options) => read(offset, into, withoutSignal(options)),
  ),
  transfer(
    'writes though it was aborted',
    ['abort/before-changes'],
    'write',
    () => (_, write, offset, from, options) => write(offset, from, withoutSignal(options)),
  ),
  transfer('aborts all reads with one', ['abort/one-of-many'], '_read', () => {
    let aborted = false;
    return async (_, read, ...args) => {
      args[2].signal?.addEventListener('abort', () => {
        aborted = true;
      });
      await turn();
      if (aborted) throw new Error('aborted with another');
      return await read(...args);
    };
  }),
];

export const flushes: Flaw[] = [
  span('flushes only once', ['flush/idle'], '_flush', () => {
    let count = 0;
    return (_, flush, ...args) => {
      if (++count > 1) throw new Error('flushed already');
      return flush(...args);
    };
  }),
  span('loses a byte with each flush', ['flush/among-writes'], '_flush', () => (node) => {
    node.store.bytes[node.size - 1] = 0;
  }),
  transfer(
    'forgets fua',
    ['flush/fua'],
    'write',
    () => (_, write, offset, from, options) => write(offset, from, { ...options, fua: false }),
  ),
  {
    ...transfer(
      'forgets fua that it cannot do itself',
      ['flush/fua'],
      'write',
      () => (_, write, offset, from, options) => write(offset, from, { ...options, fua: false }),
    ),
    supports: { fua: false },
    declared: { fua: false },
  },
  {
    what: 'does not flush when closed',
    found: ['flush/on-close'],
    node: (node) =>
      Object.assign(node, { common: { ...node.common, cache: { direct: false, noFlush: true } } }),
  },
  span('does not count flushes', ['flush/idle', 'streams/writable'], 'flush', () => () => undefined),
];

export const misuse: Flaw[] = [
  {
    what: 'takes any argument',
    found: ['arguments/read', 'arguments/block-status', 'arguments/write'],
    node: (node) =>
      Object.assign(node, {
        read: () => undefined,
        write: () => undefined,
        blockStatus: () => undefined,
        discard: () => undefined,
      }),
  },
  transfer(
    'reads zeroes beyond its end',
    ['arguments/out-of-bounds', 'errors/describe'],
    'read',
    () =>
      (node, read, ...args) =>
        args[0] >= node.size ? undefined : read(...args),
  ),
  transfer(
    'refuses writes beyond its end without saying where',
    ['errors/describe-changes'],
    'write',
    () =>
      (node, write, ...args) => {
        if (args[0] >= node.size) throw new BlockError('ERR_OUT_OF_BOUNDS', 'write: no');
        return write(...args);
      },
  ),
  transfer('stays broken after an error', ['errors/disk-works-on'], 'read', () => {
    let broken = false;
    return (_, read, ...args) => {
      if (broken) return undefined;
      broken = true;
      const result = read(...args);
      broken = false;
      return result;
    };
  }),
];

export const lifecycles: Flaw[] = [
  { what: 'can less than is said', found: ['lifecycle/supports'], supports: { fua: false } },
  {
    what: 'fails when closed twice',
    found: ['lifecycle/close-twice'],
    node(node) {
      let closed = false;
      around<[]>(node, 'close', (close) => {
        if (closed) throw new Error('closed already');
        closed = true;
        return close();
      });
    },
  },
  {
    what: 'tells extents when closed',
    found: ['lifecycle/after-close'],
    node: (node) =>
      around<Span>(node, 'blockStatus', (status, ...args) =>
        node.closed ? { offset: 0, length: args[1] } : status(...args),
      ),
  },
  {
    what: 'does not close',
    found: ['lifecycle/dispose'],
    node: (node) => around<[]>(node, 'close', () => Promise.resolve()),
  },
  {
    what: 'closes over the heads of its readers',
    found: ['lifecycle/close-drains'],
    node: (node) => around<[]>(node, 'close', (close) => (void close(), Promise.resolve())),
  },
  {
    what: 'takes options that it does not know',
    found: ['lifecycle/unknown-option'],
    options: { noSuchOption: { type: 'any', help: 'anything' } },
  },
];
