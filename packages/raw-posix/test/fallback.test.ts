import { writeFile } from 'node:fs/promises';
import { createRegistry } from '@blockyard/core';
import { expect, it, vi } from 'vitest';
import { pattern, same, scratch } from './support.ts';

const at = await scratch();
await writeFile(at('a'), pattern(10_001));

// The addon is looked for when its package is first loaded: anew, and switched off, for this file.
process.env.BLOCKYARD_NATIVE = 'off';
vi.resetModules();
const { createRequire } = await import('node:module');
const require = createRequire(import.meta.url);
for (const name of Object.keys(require.cache)) if (name.endsWith('addon.cjs')) delete require.cache[name];
const { rawPosix } = await import('../src/index.ts');
const { wasmMemory } = await import('../src/wasm-memory.ts');

const warnings: NodeJS.ErrnoException[] = [];
process.on('warning', (warning) => warnings.push(warning));
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('works over node:fs, and says so once, with the reason', async () => {
  const registry = createRegistry([rawPosix()]);
  for (let i = 0; i < 2; i++) {
    await using disk = await registry.open({ driver: 'file', filename: at('a') });
    expect(disk.describe().options).toMatchObject({ host: 'node:fs', aio: 'threads', locking: 'off' });
    expect(disk.supports).toMatchObject({
      discard: false,
      writeZeroes: false,
      blockStatus: false,
      copyRange: false,
    });
    same(await disk.read(0, 10_001), pattern(10_001));
    await disk.writeZeroes(0, 10, { mayUnmap: true });
    await disk.write(0, pattern(10_001));
  }
  await settled();
  const ours = warnings.filter((warning) => warning.code === 'BLOCKYARD_NODE_FS');
  expect(ours).toHaveLength(1);
  expect(ours[0]?.message).toMatch(/using node:fs: slower, no OFD locks.*BLOCKYARD_NATIVE=off/);
});

it('refuses what needs the addon, and says why it is not there', async () => {
  expect(() => rawPosix({ host: 'native' })).not.toThrow();
  const registry = createRegistry([rawPosix({ host: 'native' })]);
  await expect(registry.open({ driver: 'file', filename: at('a') })).rejects.toMatchObject({
    code: 'ERR_NOT_SUPPORTED',
    message: /BLOCKYARD_NATIVE=off/,
  });
  const fallback = createRegistry([rawPosix()]);
  await expect(fallback.open({ driver: 'file', filename: at('a'), aio: 'io_uring' })).rejects.toMatchObject({
    message: /io_uring.*BLOCKYARD_NATIVE=off/,
  });
});

function refuse(): never {
  throw new RangeError('could not allocate memory');
}

it('reads and writes buffered where no aligned memory can be reserved, and says so once', async () => {
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: { Memory: unknown } };
  const { Memory } = wasm;
  wasm.Memory = refuse;
  try {
    const registry = createRegistry([rawPosix()]);
    for (let i = 0; i < 2; i++) {
      await using disk = await registry.open({ driver: 'file', filename: at('a'), cache: { direct: true } });
      expect(disk.describe().options.direct).toBe(false);
      expect(disk.limits.requestAlignment).toBe(1);
      same(await disk.read(0, 10_001), pattern(10_001));
    }
  } finally {
    wasm.Memory = Memory;
  }
  await settled();
  const ours = warnings.filter((warning) => warning.code === 'BLOCKYARD_NO_DIRECT');
  expect(ours).toHaveLength(1);
});

it('lends aligned memory from slabs that never move', () => {
  const memory = wasmMemory();
  const views = Array.from({ length: 40 }, (_, i) => memory.allocate(1 + i * 4096 * 97, 4096));
  for (const view of views) expect(view.byteOffset % 4096).toBe(0);
  expect(new Set(views.map((view) => view.buffer)).size).toBeGreaterThan(1);
  const ranges = views.map((view) => ({ view, end: view.byteOffset + view.byteLength }));
  for (const a of ranges) {
    for (const b of ranges) {
      if (a === b || a.view.buffer !== b.view.buffer) continue;
      expect(a.end <= b.view.byteOffset || b.end <= a.view.byteOffset).toBe(true);
    }
  }
  expect(memory.isAligned(memory.allocate(8192, 4096), 4096)).toBe(true);
  expect(memory.isAligned(new Uint8Array(8192), 4096)).toBe(false);
  const [first] = views;
  if (!first) return;
  memory.release(first);
  memory.release(first);
  memory.release(new Uint8Array(5));
  const again = memory.allocate(1, 4096);
  expect([again.buffer, again.byteOffset]).toEqual([first.buffer, first.byteOffset]);
  expect(memory.allocate(1, 4096).byteOffset === again.byteOffset).toBe(false);
});
