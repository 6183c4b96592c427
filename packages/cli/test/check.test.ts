import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { digest, done, poke } from './support/qcow2.ts';
import { run } from './support/run.ts';
import { noise, scratch } from './support/scratch.ts';

const { path } = scratch();
const matching = (text: RegExp) => expect.stringMatching(text) as string;

async function image(name: string): Promise<string> {
  await done('create', '-q', '-f', 'qcow2', path(name), '2M');
  await poke(path(name), 'qcow2', 0, noise(200_000));
  return path(name);
}

/** Sets the 16-bit refcount of a cluster. */
function setRefcount(file: string, cluster: number | 'last', count: number): void {
  const bytes = readFileSync(file);
  const block = Number(bytes.readBigUInt64BE(Number(bytes.readBigUInt64BE(48))));
  const index = cluster === 'last' ? bytes.length / 65_536 - 1 : cluster;
  bytes.writeUInt16BE(count, block + index * 2);
  writeFileSync(file, bytes);
}

describe('check', () => {
  it('finds nothing wrong with a sound image', async () => {
    const vm = await image('sound.qcow2');
    const { code, out, err } = await run(['check', vm]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^no errors in .*sound\.qcow2\nallocated: 12\.5 % of the disk \(4 of 32 clusters\), /,
    );
    const json = JSON.parse(await done('check', '--json', vm));
    expect(json).toMatchObject({
      filename: vm,
      format: 'qcow2',
      'check-errors': 0,
      'total-clusters': 32,
      'allocated-clusters': 4,
      'image-end-offset': expect.any(Number) as number,
    });
    expect(json).not.toHaveProperty('leaks');
    expect(await done('check', '-q', vm)).toBe('');
  });

  it('ends with 3 for leaks, and gets them back', async () => {
    const vm = await image('leaks.qcow2');
    const before = await digest(vm);
    appendFileSync(vm, new Uint8Array(65_536));
    setRefcount(vm, 'last', 1);
    expect(await run(['check', vm])).toMatchObject({
      code: 3,
      out: matching(/leaked: 1 cluster: only space is lost/),
    });
    expect(JSON.parse((await run(['check', '--json', vm])).out)).toMatchObject({ leaks: 1 });
    const ended = await run(['check', '-r', 'leaks', vm]);
    expect(ended).toMatchObject({ code: 0, out: matching(/repaired: 1 leaked cluster\nno errors in /) });
    expect((await run(['check', vm])).code).toBe(0);
    expect(await digest(vm)).toBe(before);
  });

  it('ends with 2 for errors, and repairs them when told to', async () => {
    const vm = await image('errors.qcow2');
    const before = await digest(vm);
    setRefcount(vm, 'last', 0);
    const found = await run(['check', vm]);
    expect(found).toMatchObject({
      code: 2,
      out: matching(/damaged: \d+ errors? in .*do not write to it before check -r all/),
    });
    expect((await run(['check', '-r', 'leaks', vm])).code).toBe(2);
    const { code, out } = await run(['check', '--json', '-r', 'all', vm]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ 'corruptions-fixed': expect.any(Number) as number });
    expect((await run(['check', vm])).code).toBe(0);
    expect(await digest(vm)).toBe(before);
  });

  it('ends with 1 when it cannot be done, and with 63 where there is nothing to check', async () => {
    expect(await run(['check', path('nowhere')])).toMatchObject({ code: 1, err: matching(/no such file/) });
    writeFileSync(path('a.raw'), noise(5000));
    expect(await run(['check', path('a.raw')])).toMatchObject({ code: 63, err: matching(/format raw/) });
    expect(JSON.parse((await run(['check', '--json', path('a.raw')])).err)).toMatchObject({
      error: { code: 'ERR_NOT_SUPPORTED' },
    });
    expect((await run(['check', '-f', 'qcow2', path('a.raw')])).code).toBe(1);
  });

  it('needs nothing that the image names', async () => {
    const argv = ['-q', '-u', '-f', 'qcow2', '-b', 'gone.raw', '-F', 'raw'];
    await done('create', ...argv, path('over.qcow2'), '1M');
    expect((await run(['check', path('over.qcow2')])).code).toBe(0);
    const graph = { driver: 'qcow2', file: { driver: 'file', filename: path('over.qcow2') } };
    expect((await run(['check', '-r', 'all', JSON.stringify(graph)])).code).toBe(0);
  });

  it('shows progress where it is asked to', async () => {
    const vm = await image('progress.qcow2');
    expect((await run(['check', '-p', vm])).err).toMatch(/check +100%/);
  });
});
