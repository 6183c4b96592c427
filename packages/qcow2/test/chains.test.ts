import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { Store } from './support/store.ts';

const cluster = 65536;
const follow = { references: () => true };

function overlay(
  backingFile: string | undefined,
  size: number,
  put: Record<number, number>,
  backingFormat?: string,
): Uint8Array {
  const builder = new ImageBuilder({
    size,
    ...(backingFile === undefined ? {} : { backingFile }),
    ...(backingFormat === undefined ? {} : { backingFormat }),
  });
  for (const [index, seed] of Object.entries(put))
    builder.data(Number(index) * cluster, pattern(cluster, seed));
  return builder.build();
}

describe('backing chains', () => {
  const files = {
    base: pattern(3 * cluster + 777, 9),
    middle: overlay('base', 2 * cluster + 100, { 1: 1 }, 'raw'),
    top: overlay('store://middle', 6 * cluster, { 4: 2 }, 'qcow2'),
  };

  it('read through, and zeroes beyond the end of a shorter one', async () => {
    const store = new Store(files);
    const disk = await store.disk('top', {}, follow);
    const model = new Uint8Array(6 * cluster);
    model.set(files.base.subarray(0, 2 * cluster + 100));
    model.set(pattern(cluster, 1), cluster);
    model.set(pattern(cluster, 2), 4 * cluster);
    expect(Buffer.compare(await disk.read(0, disk.size), model)).toBe(0);
    expect(
      Buffer.compare(
        await disk.read(2 * cluster + 50, 100),
        model.subarray(2 * cluster + 50, 2 * cluster + 150),
      ),
    ).toBe(0);
    const told = [];
    for await (const { offset, length, depth, present, data, zero, hostOffset } of disk.extents()) {
      told.push([offset, length, depth, present, data, zero, hostOffset]);
    }
    expect(told).toEqual([
      [0, cluster, 2, true, true, false, 0],
      [cluster, cluster, 1, true, true, false, expect.any(Number)],
      [2 * cluster, 100, 2, true, true, false, 2 * cluster],
      [2 * cluster + 100, 2 * cluster - 100, 0, false, false, true, undefined],
      [4 * cluster, cluster, 0, true, true, false, expect.any(Number)],
      [5 * cluster, cluster, 0, false, false, true, undefined],
    ]);
    await disk.close();
    expect(store.open).toBe(0);
  });

  it('are not followed unless allowed, and the error names the file and the way', async () => {
    const store = new Store(files);
    await expect(store.node('top')).rejects.toMatchObject({
      code: 'ERR_DENIED_REFERENCE',
      message: expect.stringMatching(/'store:\/\/middle'.*references policy/),
    });
    expect(store.open).toBe(0);
  });

  it('are asked for one by one', async () => {
    const store = new Store(files);
    const asked: unknown[] = [];
    const references = ({ role, name, format }: { role: string; name: string; format?: string }) => {
      asked.push([role, name, format]);
      return name !== 'base';
    };
    await expect(store.node('top', {}, { references })).rejects.toMatchObject({
      code: 'ERR_DENIED_REFERENCE',
    });
    expect(asked).toEqual([
      ['backing', 'store://middle', 'qcow2'],
      ['backing', 'base', 'raw'],
    ]);
    expect(store.open).toBe(0);
  });

  it('may be left out, or given', async () => {
    const store = new Store(files);
    const alone = await store.disk('top', { backing: null });
    expect((await alone.read(0, 4 * cluster)).every((byte) => byte === 0)).toBe(true);
    await alone.close();
    const given = await store.disk('top', {
      backing: { driver: 'raw', file: { driver: 'store', name: 'base' } },
    });
    expect(Buffer.compare(await given.read(0, 100), files.base.subarray(0, 100))).toBe(0);
    await given.close();
    expect(store.open).toBe(0);
  });

  it('without a recorded format need probing to be allowed', async () => {
    const store = new Store({ ...files, top: overlay('middle', cluster, {}) });
    await expect(store.node('top', {}, follow)).rejects.toMatchObject({ code: 'ERR_FORMAT_REQUIRED' });
    const node = await store.node('top', {}, { ...follow, probe: true });
    expect(node.children.backing?.driver).toBe('qcow2');
    await node.close();
    expect(store.open).toBe(0);
  });

  it('that lead back to themselves or never end are an error', async () => {
    const store = new Store({
      self: overlay('self', cluster, {}, 'qcow2'),
      a: overlay('b', cluster, {}, 'qcow2'),
      b: overlay('a', cluster, {}, 'qcow2'),
    });
    await expect(store.node('self', {}, follow)).rejects.toMatchObject({ code: 'ERR_REFERENCE_CHAIN' });
    await expect(store.node('a', {}, follow)).rejects.toMatchObject({ code: 'ERR_REFERENCE_CHAIN' });
    const many: Record<string, Uint8Array> = {};
    for (let i = 0; i < 70; i++) many[`n${i}`] = overlay(`n${i + 1}`, cluster, {}, 'qcow2');
    const long = new Store(many);
    await expect(long.node('n0', {}, follow)).rejects.toMatchObject({ code: 'ERR_REFERENCE_CHAIN' });
    expect(store.open + long.open).toBe(0);
  });

  it('json: and NUL in names are never followed', async () => {
    for (const name of ['json:{"driver":"store","name":"base"}', 'ba\0se']) {
      const store = new Store({ top: overlay(name, cluster, {}, 'raw') });
      await expect(store.node('top', {}, follow)).rejects.toMatchObject({ code: 'ERR_DENIED_REFERENCE' });
    }
  });

  it('inspecting opens nothing that the image names', async () => {
    const store = new Store({ top: overlay('/etc/passwd', cluster, {}, 'raw') });
    const told = await store.registry.inspect({ driver: 'qcow2', file: { driver: 'store', name: 'top' } });
    expect(told).toMatchObject({ backingFile: '/etc/passwd', backingFormat: 'raw', virtualSize: cluster });
    expect(new Set(store.reads.map((read) => read.name))).toEqual(new Set(['top']));
  });
});
