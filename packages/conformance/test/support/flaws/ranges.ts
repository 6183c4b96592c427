import { around, define, type Flaw, type Span, span, type Transfer, told, transfer } from './kit.ts';

export const zeroesAndDiscards: Flaw[] = [
  span(
    'zeroes one byte too many',
    ['zeroes/plain', 'zeroes/may-unmap', 'zeroes/may-unmap-ignored', 'zeroes/fua', 'zeroes/no-fallback'],
    '_writeZeroes',
    () => (node, zero, offset, length, options) =>
      zero(offset, Math.min(length + 1, node.size - offset), options),
  ),
  span(
    'leaves what it may unmap',
    ['zeroes/may-unmap', 'detect-zeroes/unmap', 'random/detect-zeroes'],
    '_writeZeroes',
    () =>
      (_, zero, ...args) =>
        args[2].mayUnmap ? undefined : zero(...args),
  ),
  span(
    'forgets zeroes with fua',
    ['zeroes/fua'],
    '_writeZeroes',
    () =>
      (_, zero, ...args) =>
        args[2].fua ? undefined : zero(...args),
  ),
  span(
    'cannot zero without a fallback, and says it badly',
    ['zeroes/no-fallback'],
    '_writeZeroes',
    () =>
      (_, zero, ...args) => {
        if (args[2].noFallback) throw new Error('cannot');
        return zero(...args);
      },
  ),
  {
    ...span(
      'falls back though it must not',
      ['zeroes/no-fallback-unsupported'],
      'writeZeroes',
      () =>
        (_, zero, offset, length, options = {}) =>
          zero(offset, length, { ...options, noFallback: false }),
    ),
    supports: { writeZeroes: false },
    declared: { writeZeroes: false },
  },
  {
    what: 'shows old bytes around a write into zeroes',
    found: ['zeroes/then-write'],
    node(node) {
      let old: Uint8Array | undefined;
      around<Span>(node, '_writeZeroes', (zero, ...args) => {
        old = node.store.bytes.slice();
        return zero(...args);
      });
      around<Transfer>(node, '_write', (write, ...args) => {
        const start = args[0] - (args[0] % 512);
        if (old) node.store.bytes.set(old.subarray(start, start + 512), start);
        return write(...args);
      });
    },
  },
  span(
    'discards one byte too many',
    ['discard/ranges'],
    '_discard',
    () => (node, discard, offset, length, options) =>
      discard(offset, Math.min(length + 1, node.size - offset), options),
  ),
  span(
    'reads a discarded range differently each time',
    ['discard/ranges'],
    '_discard',
    () => (node, _discard, offset, length) => {
      let count = 0;
      around<Transfer>(node, '_read', async (read, ...args) => {
        await read(...args);
        if (args[1] instanceof Uint8Array && args[0] === offset && args[1].length === length)
          args[1][0] = ++count;
      });
    },
  ),
  span(
    'discards though it was not opened for it',
    ['discard/ignored'],
    'discard',
    () => (node, _, offset, length) => {
      node.store.bytes.fill(0, offset, offset + length);
    },
  ),
  {
    what: 'takes no bytes after a discard',
    found: ['discard/then-write'],
    node(node) {
      around<Span>(node, '_discard', (discard, ...args) => {
        Object.assign(node, { _write: () => undefined });
        return discard(...args);
      });
    },
  },
  span('never discards', ['discard/whole-blocks', 'counters/changes'], 'discard', () => () => undefined),
];

export const statuses: Flaw[] = [
  told('lies about zeroes', ['status/truthful', 'status/after-write', 'random/requests'], () => ({
    zero: true,
    data: false,
  })),
  told('tells an extent of no bytes', ['status/covers'], () => ({ length: 0 })),
  told('tells more than was asked for', ['status/covers'], (_, asked) => ({ length: asked + 1 })),
  told('tells neither data nor zero', ['status/fields'], () => ({ data: false, zero: false })),
  told('tells a broken depth', ['status/fields'], () => ({ depth: -1 })),
  told('tells one byte differently', ['status/parts-agree'], ({ depth }, asked) => ({
    depth: asked === 1 ? depth + 1 : depth,
  })),
  told('tells another place', ['status/covers', 'status/joined'], ({ offset }) => ({ offset: offset + 512 })),
  {
    ...span(
      'tells zeroes though it does not tell',
      ['status/unsupported'],
      'blockStatus',
      () =>
        async (_, status, ...args) => ({
          ...((await status(...args)) as object),
          data: false,
          zero: true,
        }),
    ),
    supports: { blockStatus: false },
    declared: { blockStatus: false },
  },
];

export const limitsAndCounters: Flaw[] = [
  {
    what: 'wants memory aligned to 3',
    found: ['limits/sane'],
    node: (node) =>
      define(node, 'limits', () => ({ ...limitsOf(node), minMemAlignment: 3, optMemAlignment: 3 })),
  },
  {
    what: 'has other limits each time',
    found: ['limits/stable'],
    node(node) {
      let count = 0;
      Object.assign(node, {
        _refreshLimits: (limits: { maxTransfer: number }) => void (limits.maxTransfer = ++count * 65_536),
      });
    },
  },
  {
    what: 'passes reads on as they come, though it wants blocks',
    found: ['limits/obeyed'],
    node(node) {
      around<[{ requestAlignment: number }]>(node, '_refreshLimits', (_, limits) => {
        limits.requestAlignment = 512;
      });
      around<Transfer>(node, 'read', (_, ...args) =>
        (node as unknown as Record<string, (...args: unknown[]) => unknown>)._read?.(...args),
      );
    },
  },
  transfer('counts twice', ['counters/requests'], 'read', () => (node, read, ...args) => {
    node.stats.reads++;
    return read(...args);
  }),
  transfer(
    'copies every read',
    ['counters/aligned-no-copy', 'counters/own-memory-no-copy'],
    '_read',
    () =>
      (node, read, ...args) => {
        node.stats.bounces++;
        return read(...args);
      },
  ),
  {
    what: 'describes itself with a function',
    found: ['describe/json'],
    node: (node) => Object.assign(node, { describeOptions: () => ({ filename: undefined }) }),
  },
  {
    what: 'goes by another name',
    found: ['describe/tells'],
    node: (node) => Object.assign(node, { driver: 'other' }),
  },
];

const limitsOf = (node: object): object =>
  Reflect.get(Object.getPrototypeOf(Object.getPrototypeOf(node)), 'limits', node) as object;
