import { closeSync, constants, openSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineName, native } from '@blockyard/native';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines, whyNot } from './machine.ts';

const file = join(tmpdir(), `blockyard-abort-${process.pid}`);
const BYTES = 8 << 20;
const BLOCK = 4096;

describe.skipIf(native === undefined)(`abort${whyNot ?? ''}`, () => {
  let fd: number;
  beforeAll(async () => {
    await writeFile(file, new Uint8Array(BYTES).fill(0xee));
    try {
      fd = openSync(file, constants.O_RDWR | (constants.O_DIRECT ?? 0));
    } catch {
      fd = openSync(file, constants.O_RDWR);
    }
  });
  afterAll(async () => {
    closeSync(fd);
    await rm(file, { force: true });
  });

  it.each(engines)(
    '%s: an aborted signal rejects with its reason, and nothing is submitted',
    async (kind) => {
      const engine = (native as NonNullable<typeof native>).engine(kind);
      const reason = new Error('before');
      await expect(engine.read(fd, 0, new Uint8Array(BLOCK), AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(engine.inFlight).toBe(0);
      await engine.close();
    },
  );

  it.each(engines)(
    '%s: 200 aborts at random moments leave memory alone once they have settled',
    async (kind) => {
      for (let round = 0; round < 200; round++) await abortSome(kind, fd, round);
    },
    60_000,
  );

  it.each(engines)('%s: aborts what still waits for a free slot', async (kind) => {
    const engine = (native as NonNullable<typeof native>).engine(kind);
    const control = new AbortController();
    const memory = (native as NonNullable<typeof native>).memory.create(BLOCK, BLOCK);
    const ahead = Array.from({ length: 1500 }, () => engine.read(fd, 0, memory));
    const waiting = engine.read(fd, 0, memory, control.signal);
    control.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    expect(await Promise.all(ahead)).toEqual(Array(1500).fill(BLOCK));
    expect(engine.inFlight).toBe(0);
    await engine.close();
  });
});

async function abortSome(kind: EngineName, fd: number, round: number): Promise<void> {
  const { memory, engine: open } = native as NonNullable<typeof native>;
  const engine = open(kind);
  const control = new AbortController();
  const outcomes = Array.from({ length: 32 }, async (_, i) => {
    const buffer = memory.create(BLOCK, BLOCK);
    const position = Math.floor((Math.random() * BYTES) / BLOCK) * BLOCK;
    try {
      const bytes = await engine.read(fd, position, buffer, i % 2 === 0 ? control.signal : undefined);
      expect(bytes).toBe(BLOCK);
      expect(buffer[BLOCK - 1]).toBe(0xee);
    } catch (error) {
      expect(i % 2).toBe(0);
      expect(error).toBe(control.signal.reason);
      buffer.fill(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(buffer.every((byte) => byte === 1)).toBe(true);
    }
  });
  if (round % 4 === 0) control.abort(new Error('at once'));
  else if (round % 4 === 1) queueMicrotask(() => control.abort(new Error('in a microtask')));
  else if (round % 4 === 2) setImmediate(() => control.abort(new Error('in the next turn')));
  else setTimeout(() => control.abort(new Error('later')), Math.random() * 3);
  await Promise.all(outcomes);
  expect(engine.inFlight).toBe(0);
  await engine.close();
}
