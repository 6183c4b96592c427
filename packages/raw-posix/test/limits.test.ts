import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { HostFile } from '../src/host.ts';
import { registryWith, regularFile, systemFailure } from './fake-host.ts';
import { cases, describeCases, pattern, scratch } from './support.ts';

const at = await scratch();
await writeFile(at('disk'), pattern(1 << 16));
const disk = { driver: 'file', filename: at('disk'), cache: { direct: true } };

describeCases(
  'limits',
  () => true,
  (one) => {
    it('demand nothing of buffered requests, and of direct ones what works', async () => {
      await using opened = await one.open(at('disk'));
      const { requestAlignment, minMemAlignment, optMemAlignment, maxIov, ...rest } = opened.limits;
      expect(optMemAlignment).toBeGreaterThanOrEqual(4096);
      expect(maxIov).toBe(1024);
      expect(new Set(Object.values(rest))).toEqual(new Set([0]));
      if (!one.direct) return expect([requestAlignment, minMemAlignment]).toEqual([1, 1]);
      expect([512, 1024, 2048, 4096]).toContain(requestAlignment);
      expect(minMemAlignment).toBeLessThanOrEqual(4096);
    });
  },
);

describe('the probe', () => {
  /** A device that takes only such requests. */
  const strict = (memory: number, request: number) => (inner: HostFile) => ({
    read: (position: number, into: Uint8Array | readonly Uint8Array[], signal: AbortSignal | undefined) => {
      const view = into as Uint8Array;
      const misaligned =
        view.byteOffset % memory !== 0 || view.byteLength % request !== 0 || position % request !== 0;
      return misaligned ? Promise.reject(systemFailure('EINVAL')) : inner.read(position, into, signal);
    },
  });

  it.each([
    [512, 512],
    [512, 4096],
    [1024, 512],
    [4096, 4096],
    [2048, 1024],
  ])('finds memory %i and requests %i by trial', async (memory, request) => {
    await using node = await registryWith(strict(memory, request)).open(disk);
    expect(node.limits).toMatchObject({
      minMemAlignment: memory,
      requestAlignment: request,
      optMemAlignment: 4096,
    });
  });

  it('finds larger ones where pages are larger', async () => {
    await using node = await registryWith(strict(8192, 16_384), { pageSize: 16_384 }).open(disk);
    expect(node.limits).toMatchObject({
      minMemAlignment: 8192,
      requestAlignment: 16_384,
      optMemAlignment: 16_384,
    });
  });

  it('overwrites what was there before at every refresh', async () => {
    let demand = 4096;
    const registry = registryWith((inner) => ({
      read: (...args) => strict(demand, demand)(inner).read(...args),
    }));
    await using node = await registry.open(disk);
    expect(node.limits).toMatchObject({
      minMemAlignment: 4096,
      requestAlignment: 4096,
      optMemAlignment: 4096,
    });
    demand = 512;
    await node.node.refreshLimits();
    expect(node.limits).toMatchObject({ minMemAlignment: 512, requestAlignment: 512, optMemAlignment: 4096 });
  });

  it('says so when nothing works', async () => {
    await expect(registryWith(strict(1 << 20, 1 << 20)).open(disk)).rejects.toMatchObject({
      code: 'EINVAL',
      message: /no alignment up to 4096 bytes works.*cache.direct: false/,
    });
  });

  it('takes another error for an answer about something else', async () => {
    const registry = registryWith(() => ({ read: () => Promise.reject(systemFailure('EIO')) }));
    await using node = await registry.open(disk);
    expect(node.limits).toMatchObject({ minMemAlignment: 512, requestAlignment: 512 });
  });

  it('does not trust an empty file, at whose end nothing is checked', async () => {
    await writeFile(at('empty'), '');
    await using node = await registryWith(() => ({})).open({ ...disk, filename: at('empty') });
    expect(node.limits).toMatchObject({ minMemAlignment: 4096, requestAlignment: 4096 });
  });

  it('asks the kernel first', async () => {
    const status = async () => ({ ...regularFile(1 << 16), dioMemAlign: 4, dioOffsetAlign: 1024 });
    await using node = await registryWith(() => ({ status })).open(disk);
    expect(node.limits).toMatchObject({ minMemAlignment: 4, requestAlignment: 1024, optMemAlignment: 4096 });
  });

  it('gives memory at least the alignment of the device', async () => {
    const status = async () => ({ ...regularFile(1 << 16), dioMemAlign: 65_536, dioOffsetAlign: 512 });
    await using node = await registryWith(() => ({ status })).open(disk);
    expect(node.limits.optMemAlignment).toBe(65_536);
  });

  it('refuses a window that direct requests cannot reach', async () => {
    const options = { ...disk, offset: 100 };
    await expect(registryWith(() => ({})).open(options)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: /offset 100 is not a multiple of 512/,
    });
  });

  const [first] = cases.filter((one) => one.host === 'native' && one.direct && !one.skip);
  it.skipIf(!first)('agrees with the kernel about what works, by trial', async () => {
    const trial = await registryWith(() => ({})).open(disk);
    const told = await first?.open(at('disk'));
    expect(told?.limits.requestAlignment).toBeGreaterThanOrEqual(trial.limits.requestAlignment);
    await trial.close();
    await told?.close();
  });
});
