import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type * as fs from 'node:fs/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TemporaryFile } from '../src/target/temporary.ts';
import { scratch } from './support/scratch.ts';

const { path } = scratch();
const failing = vi.hoisted(() => new Map<string, { code: string; before?: () => void }>());

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof fs>();
  const guard =
    (name: string, call: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      const fault = failing.get(name);
      if (!fault) return await call(...args);
      fault.before?.();
      throw Object.assign(new Error(`${fault.code}: injected, ${name}`), { code: fault.code });
    };
  const names = ['link', 'unlink', 'rename', 'lstat'] as const;
  const faked = Object.fromEntries(names.map((name) => [name, guard(name, real[name] as never)]));
  return {
    ...real,
    ...faked,
    open: async (...args: Parameters<typeof real.open>) => {
      const handle = await real.open(...args);
      return { sync: guard('sync', () => handle.sync()), close: () => handle.close() };
    },
  };
});

let count = 0;
let target = '';
beforeEach(() => {
  failing.clear();
  target = path(`target${count++}`);
});

function make(replace: boolean): TemporaryFile {
  const file = new TemporaryFile(target, replace);
  writeFileSync(file.path, 'copy');
  file.made();
  return file;
}

describe('a finished copy', () => {
  it.each([true, false])(
    'whose directory cannot be flushed is there all the same (replace: %s)',
    async (replace) => {
      const file = make(replace);
      failing.set('sync', { code: 'EIO' });
      await expect(file.finish(undefined, true)).rejects.toMatchObject({ code: 'EIO', op: 'flush' });
      expect(await file.discard()).toBe(
        `the copy is complete under its name ${target}, but it may not survive a power cut`,
      );
      expect(readFileSync(target, 'utf8')).toBe('copy');
      expect(existsSync(file.path)).toBe(false);
    },
  );

  it('whose temporary name stays names it', async () => {
    const file = make(false);
    failing.set('unlink', { code: 'EIO' });
    await expect(file.finish(undefined, true)).rejects.toMatchObject({ code: 'EIO', op: 'unlink' });
    const left = await file.discard();
    expect(left).toContain(
      `the copy is complete under its name ${target}; its temporary name ${file.path} could`,
    );
    expect(readFileSync(target, 'utf8')).toBe('copy');
  });

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])(
    'is renamed where there are no hard links (%s)',
    async (code) => {
      const file = make(false);
      failing.set('link', { code });
      await file.finish(undefined, true);
      expect(readFileSync(target, 'utf8')).toBe('copy');
      expect(await file.discard()).toBe(`the copy is complete under its name ${target}`);
    },
  );

  it('does not replace what was made in the meantime where there are no hard links', async () => {
    const file = make(false);
    failing.set('link', { code: 'EPERM', before: () => writeFileSync(target, 'theirs') });
    await expect(file.finish(undefined, true)).rejects.toMatchObject({ code: 'ERR_TARGET_EXISTS' });
    expect(await file.discard()).toBe(`the unfinished copy was removed; ${target} was not made`);
    expect(readFileSync(target, 'utf8')).toBe('theirs');
  });

  it.each(['EIO', 'EACCES', 'ENOSPC'])('is not renamed after another failure (%s)', async (code) => {
    const file = make(false);
    failing.set('link', { code });
    await expect(file.finish(undefined, true)).rejects.toMatchObject({ code, op: 'rename' });
    expect(await file.discard()).toBe(`the unfinished copy was removed; ${target} was not made`);
    expect(existsSync(target)).toBe(false);
  });

  it('reports a rename that fails', async () => {
    writeFileSync(target, 'old');
    const file = make(true);
    failing.set('rename', { code: 'EIO' });
    await expect(file.finish(undefined, true)).rejects.toMatchObject({ code: 'EIO', op: 'rename' });
    expect(await file.discard()).toBe(`the unfinished copy was removed; ${target} is as it was`);
    expect(readFileSync(target, 'utf8')).toBe('old');
  });
});
