import { readFile, writeFile } from 'node:fs/promises';
import { memory } from '@blockyard/core';
import type { FileCalls } from '@blockyard/native';
import { describe, expect, it } from 'vitest';
import { RangeCopy } from '../src/copy.ts';
import type { HostFile } from '../src/host.ts';
import { systemFailure } from './fake-host.ts';
import { describeCases, pattern, same, scratch } from './support.ts';

const at = await scratch();

describeCases(
  'copyRange',
  (one) => one.host === 'native',
  (one) => {
    const name = (text: string) => at(`${text}-${one.name.replace(/[: ]/g, '-')}`);
    const open = async (text: string, contents: Uint8Array, options = {}) => {
      await writeFile(name(text), contents);
      return await one.open(name(text), options);
    };

    it('copies inside the kernel', async () => {
      const contents = pattern(1 << 20);
      await using from = await open('from', contents, { readOnly: true });
      await using to = await open('to', new Uint8Array(1 << 20));
      let done = 0;
      while (done < 1 << 20) {
        const count = await to.node.copyRange(from.node, done, done, (1 << 20) - done);
        expect(count).toBeGreaterThan(0);
        done += count;
      }
      same(await readFile(name('to')), contents);
      same(await to.read(0, 1 << 20), contents);
      expect(to.stats).toMatchObject({ writes: 0, bounces: 0 });
    });

    it('counts windows in', async () => {
      await using from = await open('wfrom', pattern(40_000), { readOnly: true, offset: 4096 });
      await using to = await open('wto', new Uint8Array(40_000), { offset: 8192 });
      const count = await to.node.copyRange(from.node, 0, 4096, 8192);
      expect(count).toBe(8192);
      same((await readFile(name('wto'))).subarray(12_288, 20_480), pattern(40_000).subarray(4096, 12_288));
    });

    it('cannot, from a node of another driver', async () => {
      await using to = await open('alone', new Uint8Array(4096));
      const other = await one.registry.open({
        driver: 'raw',
        file: { driver: 'file', filename: name('alone'), readOnly: true, forceShare: true },
        readOnly: true,
      });
      expect(await to.node.copyRange(other.node, 0, 0, 10)).toBe(0);
      expect(memory().name).toBe('memory');
      await other.close();
    });
  },
);

describe('what the kernel refuses', () => {
  const ends = (answers: { clone?: string; copy?: string }) => {
    const asked: string[] = [];
    const calls = {
      cloneRange: async () => {
        asked.push('clone');
        if (answers.clone) throw systemFailure(answers.clone);
      },
      copyRange: async (_from: number, _a: number, _to: number, _b: number, length: number) => {
        asked.push('copy');
        if (answers.copy) throw systemFailure(answers.copy);
        return length;
      },
    } as unknown as FileCalls;
    const end = (position: number) => ({
      file: { fd: 0, calls } as unknown as HostFile,
      position,
      blockSize: 4096,
    });
    return { asked, from: end(0), to: end(4096) };
  };

  it('clones whole blocks first, and copies the rest', async () => {
    const { asked, from, to } = ends({});
    const copies = new RangeCopy();
    expect(await copies.copy(from, to, 10_000)).toBe(8192);
    expect(await copies.copy(from, to, 1000)).toBe(1000);
    expect(await copies.copy({ ...from, position: 1 }, to, 8192)).toBe(8192);
    expect(asked).toEqual(['clone', 'copy', 'copy']);
  });

  it('is not asked again', async () => {
    const { asked, from, to } = ends({ clone: 'EOPNOTSUPP', copy: 'EXDEV' });
    const copies = new RangeCopy();
    for (let i = 0; i < 3; i++) expect(await copies.copy(from, to, 8192)).toBe(0);
    expect(asked).toEqual(['clone', 'copy']);
  });

  it('an error of the disk is an error', async () => {
    const { from, to } = ends({ clone: 'EXDEV', copy: 'EIO' });
    await expect(new RangeCopy().copy(from, to, 8192)).rejects.toMatchObject({ code: 'EIO' });
  });

  it('without the calls there is nothing to try', async () => {
    const { from, to } = ends({});
    expect(await new RangeCopy().copy({ ...from, file: { fd: 0, calls: undefined } as never }, to, 1)).toBe(
      0,
    );
  });
});
