import { conformance } from '@blockyard/conformance/vitest';
import { memory, nullDriver, passThrough, raw } from '@blockyard/core';
import { stored } from './support/supports.ts';

conformance({
  driver: memory(),
  fixture: () => ({ options: { driver: 'memory', size: 150_000 }, size: 150_000 }),
  supports: stored,
});

const content = Uint8Array.from({ length: 77_777 }, (_, i) => (i % 8192 < 4096 ? 0 : i % 251));

conformance({
  name: 'memory with data of an odd size',
  driver: memory(),
  fixture: () => ({ options: { driver: 'memory', data: content.slice() }, size: content.length, content }),
  supports: stored,
});

conformance({
  name: 'memory, read-only',
  passThrough: false,
  driver: memory(),
  fixture: () => ({
    options: { driver: 'memory', data: content.slice(), readOnly: true },
    size: content.length,
    content,
  }),
  supports: stored,
});

conformance({
  name: 'a disk of no bytes',
  passThrough: false,
  driver: memory(),
  fixture: () => ({ options: { driver: 'memory', size: 0 }, size: 0 }),
  supports: stored,
});

conformance({
  driver: nullDriver(),
  fixture: () => ({
    options: { driver: 'null', size: 150_000, readZeroes: true },
    size: 150_000,
    content: new Uint8Array(150_000),
  }),
  supports: { ...stored, store: false, resize: false },
});

conformance({
  name: 'null that leaves memory as it was',
  passThrough: false,
  driver: nullDriver(),
  fixture: () => ({ options: { driver: 'null', size: 150_000 }, size: 150_000 }),
  supports: { ...stored, store: false, resize: false, blockStatus: false },
  skip: {
    'read/into-memory': 'it does not read',
    'read/settled': 'it does not read',
    'read/vectors': 'it does not read',
  },
});

conformance({
  passThrough: false,
  driver: passThrough(),
  drivers: [memory()],
  fixture: () => ({
    options: { driver: 'pass-through', file: { driver: 'memory', size: 200_000 } },
    size: 200_000,
  }),
  supports: stored,
});

conformance({
  driver: raw(),
  drivers: [memory()],
  fixture: () => ({ options: { driver: 'raw', file: { driver: 'memory', size: 200_001 } }, size: 200_001 }),
  supports: stored,
});

conformance({
  name: 'raw, a window',
  passThrough: false,
  driver: raw(),
  drivers: [memory()],
  fixture: () => ({
    options: { driver: 'raw', offset: 1001, size: 100_003, file: { driver: 'memory', size: 200_001 } },
    size: 100_003,
  }),
  supports: { ...stored, resize: false },
});
