import { describe, expect, it } from 'vitest';
import { pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { openNode } from './support/open.ts';
import { Store } from './support/store.ts';

const cluster = 65536;
const follow = { references: () => true };
const make = (options = {}) =>
  new ImageBuilder({ size: 6 * cluster, dataFile: 'data', ...options })
    .external(0, 2)
    .external(4 * cluster, 1)
    .zero(5 * cluster);

describe('an external data file', () => {
  const data = pattern(5 * cluster, 4);
  const model = data.slice();
  model.fill(0, 2 * cluster, 4 * cluster);

  it.each([false, true])('named in the image is read, raw: %s', async (rawDataFile) => {
    const store = new Store({ image: make({ rawDataFile }).build(), data });
    const disk = await store.disk('image', {}, follow);
    expect(Buffer.compare(await disk.read(0, 5 * cluster), model)).toBe(0);
    const extent = await disk.blockStatus(4 * cluster, cluster);
    expect(extent).toMatchObject({ data: true, hostOffset: 4 * cluster, hostNode: { path: 'data' } });
    expect(disk.describe()).toMatchObject({ children: { 'data-file': { driver: 'store' } } });
    await disk.close();
    expect(store.open).toBe(0);
  });

  it('is not followed unless allowed', async () => {
    const store = new Store({ image: make().build(), data });
    await expect(store.node('image')).rejects.toMatchObject({
      code: 'ERR_DENIED_REFERENCE',
      message: expect.stringContaining("'data'"),
    });
    expect(store.open).toBe(0);
  });

  it('may be given, and must be where the image names none', async () => {
    const store = new Store({ image: make({ dataFile: '' }).build(), data });
    await expect(store.node('image', {}, follow)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining('dataFile'),
    });
    const disk = await store.disk('image', { dataFile: { driver: 'store', name: 'data' } });
    expect(Buffer.compare(await disk.read(0, 5 * cluster), model)).toBe(0);
    await disk.close();
    expect(store.open).toBe(0);
  });

  it('given for an image that has none is an error', async () => {
    await expect(
      openNode(new ImageBuilder().build(), { dataFile: { driver: 'memory', size: 1 } }),
    ).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });

  it('cut short is an error with the offset', async () => {
    const store = new Store({ image: make().build(), data: data.subarray(0, cluster) });
    const disk = await store.disk('image', {}, follow);
    await disk.read(0, cluster);
    await expect(disk.read(cluster, 1)).rejects.toMatchObject({
      code: 'ERR_IMAGE_TRUNCATED',
      offset: cluster,
      path: 'data',
    });
    await expect(disk.blockStatus(cluster, 1)).rejects.toMatchObject({ code: 'ERR_IMAGE_TRUNCATED' });
    await disk.close();
  });

  it('cannot have compressed clusters, nor data out of place when it is raw', async () => {
    const compressed = make({ rawDataFile: true }).entry(cluster, (1n << 62n) | (1n << 54n));
    const moved = make({ rawDataFile: true }).external(cluster, 1, 3 * cluster);
    for (const builder of [compressed, moved]) {
      const store = new Store({ image: builder.build(), data });
      const disk = await store.disk('image', {}, follow);
      await expect(disk.read(cluster, 1)).rejects.toMatchObject({ code: 'ERR_CORRUPT' });
      await disk.close();
    }
  });

  it('is told by inspect, which does not open it', async () => {
    const store = new Store({ image: make({ rawDataFile: true, dataFile: '/etc/passwd' }).build() });
    const told = await store.registry.inspect({ driver: 'qcow2', file: { driver: 'store', name: 'image' } });
    expect(told).toMatchObject({
      dataFile: '/etc/passwd',
      formatSpecific: { 'data-file': '/etc/passwd', 'data-file-raw': true },
    });
  });
});
