import { channel } from 'node:diagnostics_channel';
import { createRegistry, memory, passThrough, type RequestEvent } from '@blockyard/core';
import { expect, test } from 'vitest';
import { type StrictNode, strict } from './support/strict.ts';

const drivers = createRegistry([memory(), passThrough(), strict()]);
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('close waits for what is in flight, flushes what was written, and twice is fine', async () => {
  let go = () => {};
  const disk = await drivers.open({
    driver: 'strict',
    size: 512,
    before: (call: { op: string }) =>
      call.op === 'write' ? new Promise<void>((resolve) => (go = resolve)) : undefined,
  });
  const { calls } = disk.node as StrictNode;
  const write = disk.write(0, Uint8Array.of(1));
  const closing = disk.close();
  await tick();
  expect(calls.map((call) => call.op)).toEqual(['write']);
  go();
  await Promise.all([write, closing, disk.close()]);
  expect(calls.map((call) => call.op)).toEqual(['write', 'flush', 'close']);
  await expect(disk.read(0, 1)).rejects.toMatchObject({ code: 'ERR_NODE_CLOSED', driver: 'strict' });
  await expect(disk.flush()).rejects.toMatchObject({ code: 'ERR_NODE_CLOSED' });
});

test('closing an untouched disk flushes nothing; a failing flush is told', async () => {
  const quiet = await drivers.open({ driver: 'strict', size: 512 });
  await quiet.close();
  expect((quiet.node as StrictNode).calls.map((call) => call.op)).toEqual(['close']);
  const failing = await drivers.open({
    driver: 'strict',
    size: 512,
    before: (call: { op: string }) => {
      if (call.op === 'flush') throw Object.assign(new Error('lost'), { code: 'EIO' });
    },
  });
  await failing.write(0, Uint8Array.of(1));
  await expect(failing.close()).rejects.toMatchObject({ code: 'EIO' });
  expect((failing.node as StrictNode).calls.at(-1)?.op).toBe('close');
});

test('a change of size alone is flushed too', async () => {
  const disk = await drivers.open({ driver: 'strict', size: 512 });
  await disk.truncate(1024);
  await disk.close();
  expect((disk.node as StrictNode).calls.map((call) => call.op)).toEqual(['truncate', 'flush', 'close']);
});

test('a shared node closes with its last holder', async () => {
  const shared = await drivers.openNode({ driver: 'memory', size: 512 });
  const disk = await drivers.open({ driver: 'pass-through', file: shared });
  await disk.close();
  expect(shared.closed).toBe(false);
  await shared.close();
  expect(shared.closed).toBe(true);
});

test('await using closes', async () => {
  const disk = await drivers.open({ driver: 'memory', size: 512 });
  await disk[Symbol.asyncDispose]();
  expect(disk.closed).toBe(true);
});

test('an aborted request rejects with the reason, and not before its memory is free', async () => {
  let go = () => {};
  const disk = await drivers.open({
    driver: 'strict',
    size: 512,
    before: () => new Promise<void>((resolve) => (go = resolve)),
  });
  const reason = new Error('enough');
  await expect(disk.read(0, 10, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect((disk.node as StrictNode).calls).toEqual([]);
  const controller = new AbortController();
  let settled = false;
  const read = disk.read(0, 10, { signal: controller.signal }).finally(() => {
    settled = true;
  });
  read.catch(() => {});
  controller.abort(reason);
  await tick();
  expect(settled).toBe(false);
  go();
  await expect(read).rejects.toBe(reason);
  await disk.close();
});

test.each([
  [() => [-1, 10], RangeError],
  [() => [0.5, 10], RangeError],
  [() => [Number.NaN, 10], RangeError],
  [() => [2 ** 53, 10], RangeError],
  [() => [1n, 10], TypeError],
  [() => ['1', 10], TypeError],
  [() => [0, -1], RangeError],
  [() => [0, {}], TypeError],
  [() => [0, [1, 2]], TypeError],
])('misuse is a TypeError or RangeError: %s', async (args, type) => {
  const disk = await drivers.open({ driver: 'memory', size: 512 });
  await expect((disk.read as (...all: unknown[]) => Promise<unknown>)(...args())).rejects.toBeInstanceOf(
    type,
  );
});

test('requests beyond the end, and writes to a read-only disk, are refused with their place', async () => {
  const disk = await drivers.open({ driver: 'memory', size: 512, readOnly: true });
  await expect(disk.read(500, 13)).rejects.toMatchObject({
    code: 'ERR_OUT_OF_BOUNDS',
    op: 'read',
    offset: 500,
    length: 13,
  });
  await expect(disk.read(0, 2 ** 40)).rejects.toMatchObject({ code: 'ERR_OUT_OF_BOUNDS' });
  await expect(disk.write(0, Uint8Array.of(1))).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
  await expect(disk.writeZeroes(0, 1)).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
  await expect(disk.truncate(1024)).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
  expect(await disk.read(512, 0)).toEqual(new Uint8Array(0));
});

test('shrinking must be meant, and what was cut off does not come back', async () => {
  const disk = await drivers.open({ driver: 'memory', size: 1000 });
  await disk.write(0, new Uint8Array(1000).fill(7));
  await expect(disk.truncate(500)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  await disk.truncate(500, { shrink: true });
  await disk.truncate(1000);
  expect(await disk.read(499, 3)).toEqual(Uint8Array.of(7, 0, 0));
});

test('requests are published to whoever listens', async () => {
  const disk = await drivers.open({ driver: 'pass-through', file: { driver: 'memory', size: 512 } });
  const seen: string[] = [];
  const listen = (message: unknown) => {
    const { node, op, offset, length } = message as RequestEvent;
    seen.push(`${node.driver} ${op} ${offset}+${length}`);
  };
  channel('blockyard:request').subscribe(listen);
  await disk.write(3, Uint8Array.of(1, 2));
  channel('blockyard:request').unsubscribe(listen);
  await disk.write(3, Uint8Array.of(1, 2));
  expect(seen).toEqual(['pass-through write 3+2', 'memory write 3+2']);
});
