import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { loadFailure, native } from '../src/index.ts';
import { Pool } from '../src/pool.ts';
import { checkRoom } from '../src/room.ts';

describe.skipIf(!native)(`little room${native ? '' : ` (skipped: ${loadFailure()})`}`, () => {
  it('is no matter without a limit', () => {
    const limit = spawnSync('/bin/bash', ['-c', 'ulimit -v'], { encoding: 'utf8' }).stdout.trim();
    if (limit === 'unlimited') expect(() => checkRoom(2 ** 40)).not.toThrow();
  });

  it('makes the pool drop what is free, and it works on', () => {
    const pool = new Pool(() => {});
    const kept = pool.allocate(64 << 10, 4096);
    pool.release(pool.allocate(2 << 20, 4096));
    const before = pool.stats.slabBytes;
    pool.shrink();
    expect(pool.stats.slabBytes).toBeLessThan(before);
    const again = pool.allocate(2 << 20, 4096);
    expect(again).toHaveLength(2 << 20);
    pool.release(again);
    pool.release(kept);
    expect(pool.stats).toEqual({ lent: 0, lentBytes: 0, slabBytes: 0 });
  });
});
