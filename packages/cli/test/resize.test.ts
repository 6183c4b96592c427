import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, header, poke } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const MiB = 1 << 20;
const matching = (text: RegExp) => expect.stringMatching(text) as string;
const bytes = noise(MiB);

describe('resize', () => {
  it('grows and shrinks a qcow2 image', async () => {
    const vm = path('vm.qcow2');
    await done('create', '-q', '-f', 'qcow2', vm, '1M');
    await poke(vm, 'qcow2', 0, bytes);
    expect(await done('resize', vm, '+2M')).toBe(`${vm}: 3 MiB (3145728 bytes), resized from 1 MiB\n`);
    expect(header(vm).size).toBe(3 * MiB);
    expect(await done('resize', vm, '3M')).toMatch(/has this size already/);
    expect(await run(['resize', vm, '-1M'])).toMatchObject({
      code: 1,
      out: '',
      err: matching(/1 MiB \(1048576 bytes\) at the end of the disk would be cut off.*--shrink/),
    });
    expect(header(vm).size).toBe(3 * MiB);
    expect(JSON.parse(await done('resize', '--json', '--shrink', vm, '-2.5M'))).toEqual({
      image: vm,
      before: 3 * MiB,
      size: MiB / 2,
    });
    await done('resize', '-q', vm, '1M');
    writeFileSync(path('expected.raw'), Buffer.concat([bytes.subarray(0, MiB / 2), Buffer.alloc(MiB / 2)]));
    expect(await digest(vm)).toBe(await digest(path('expected.raw'), '-f', 'raw'));
    expect((await run(['resize', '--shrink', vm, '-2M'])).code).toBe(2);
  });

  it('wants to be told that an image is raw', async () => {
    writeFileSync(path('a.raw'), bytes);
    expect(await run(['resize', path('a.raw'), '2M'])).toMatchObject({
      code: 1,
      err: matching(/say -f raw/),
    });
    expect(statSync(path('a.raw')).size).toBe(MiB);
    await done('resize', '-f', 'raw', '--preallocation', 'full', path('a.raw'), '2M');
    expect(statSync(path('a.raw'))).toMatchObject({ size: 2 * MiB });
    expect(statSync(path('a.raw')).blocks * 512).toBeGreaterThanOrEqual(2 * MiB);
    await done('resize', '-f', 'raw', path('a.raw'), '-1M', '--shrink');
    expect(readFileSync(path('a.raw')).equals(bytes)).toBe(true);
    expect(
      (await run(['resize', '--shrink', '-f', 'raw', '--preallocation', 'full', path('a.raw'), '1k'])).code,
    ).toBe(2);
  });

  it('takes an image as a graph or as options', async () => {
    await done('create', '-q', '-f', 'qcow2', path('g.qcow2'), '1M');
    const graph = { driver: 'qcow2', file: { driver: 'file', filename: path('g.qcow2') } };
    await done('resize', JSON.stringify(graph), '2M');
    expect(header(path('g.qcow2')).size).toBe(2 * MiB);
    await done('resize', '--image-opts', `driver=qcow2,file.filename=${path('g.qcow2')}`, '+1M');
    expect(header(path('g.qcow2')).size).toBe(3 * MiB);
  });

  it('does not bring to light what a longer backing file has', async () => {
    writeFileSync(path('base.raw'), bytes);
    await done('create', '-q', '-f', 'qcow2', '-b', 'base.raw', '-F', 'raw', path('over.qcow2'), '256k');
    await done('resize', path('over.qcow2'), '1M');
    writeFileSync(path('cut.raw'), Buffer.concat([bytes.subarray(0, 1 << 18), Buffer.alloc(3 << 18)]));
    expect(await digest(path('over.qcow2'))).toBe(await digest(path('cut.raw'), '-f', 'raw'));
  });
});
