import { describe, expect, it } from 'vitest';
import { commit, type Progress } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { failAt, type Image, newImage, type OverlayNode, openImage } from './overlay.ts';
import { contents, noise } from './support.ts';

const keep = closing();
const K = 1024;

interface Chain {
  nodes: OverlayNode[];
  top: OverlayNode;
}

/** Base first. */
async function chain(...images: Image[]): Promise<Chain> {
  const nodes: OverlayNode[] = [];
  for (const image of images) nodes.push(await keep(openImage(image, nodes.at(-1))));
  return { nodes, top: nodes.at(-1) as OverlayNode };
}

const clusters = (node: OverlayNode) => [...node.image.clusters.keys()].sort((a, b) => a - b);

async function sample() {
  const images = [await newImage(1024 * K), await newImage(1024 * K), await newImage(1024 * K)];
  const made = await chain(...images);
  const [base, mid, top] = made.nodes as [OverlayNode, OverlayNode, OverlayNode];
  await base.write(0, noise(512 * K, 1));
  await mid.write(100 * K, noise(100 * K, 2));
  await mid.writeZeroes(320 * K, 64 * K);
  await top.write(64 * K, noise(10 * K, 3));
  await top.writeZeroes(128 * K, 64 * K);
  await top.writeZeroes(640 * K, 64 * K);
  await top.write(960 * K + 1, noise(5000, 4));
  for (const node of made.nodes) [node.reads, node.writes, node.zeroes].forEach((list) => (list.length = 0));
  return { base, mid, top, shown: await contents(top) };
}

const expectShown = async (node: OverlayNode, shown: Uint8Array) =>
  expect(Buffer.compare(await contents(node), shown)).toBe(0);

/** An image behind a smaller one behind a larger one: the middle has to grow. */
const growing = async () => chain(await newImage(1024 * K), await newImage(300 * K), await newImage(777 * K));

describe('commit', () => {
  it('writes the top layer into what is directly behind it, and empties it', async () => {
    const { base, mid, top, shown } = await sample();
    const before = await contents(base);
    const seen: Progress[] = [];
    const result = await commit(top, mid, { onProgress: (progress) => seen.push(progress) });
    expect(result).toEqual({
      size: 1024 * K,
      bytesWritten: 2 * 64 * K,
      bytesZeroWritten: 64 * K,
      emptied: true,
    });
    expect(clusters(top)).toEqual([]);
    await expectShown(top, shown);
    await expectShown(mid, shown);
    expect(Buffer.compare(before, await contents(base))).toBe(0);
    expect(mid.flushes).toBeGreaterThan(0);
    expect(seen.at(-1)).toMatchObject({ done: 1024 * K, total: 1024 * K });
  });

  it('of several layers writes them all, and empties none', async () => {
    const { base, mid, top, shown } = await sample();
    const layers = [clusters(mid), clusters(top)];
    const result = await commit(top, base);
    expect(result.emptied).toBe(false);
    await expectShown(base, shown);
    await expectShown(top, shown);
    expect([clusters(mid), clusters(top)]).toEqual(layers);
    // Nothing that is there already is written again.
    expect(result.bytesWritten).toBe(3 * 64 * K);
    expect(base.image.clusters.get(2)).toBe('zero');
    expect(base.image.clusters.has(10)).toBe(false);
  });

  it('keeps the top with keep', async () => {
    const { mid, top, shown } = await sample();
    const own = clusters(top);
    expect((await commit(top, mid, { keep: true })).emptied).toBe(false);
    expect(clusters(top)).toEqual(own);
    await expectShown(mid, shown);
  });

  it('of an empty layer moves nothing', async () => {
    const { nodes, top } = await chain(await newImage(256 * K), await newImage(256 * K));
    await nodes[0]?.write(0, noise(256 * K, 1));
    const result = await commit(top, nodes[0] as OverlayNode);
    expect(result).toMatchObject({ bytesWritten: 0, bytesZeroWritten: 0 });
    expect(top.reads).toEqual([]);
  });

  it('lets the base grow, and hides what a longer image behind it has there', async () => {
    const { nodes, top } = await growing();
    const [root, base] = nodes as [OverlayNode, OverlayNode, OverlayNode];
    await root.write(0, noise(1024 * K, 1));
    await top.write(500 * K, noise(20 * K, 2));
    const shown = await contents(top);
    const result = await commit(top, base);
    expect(result).toMatchObject({ grownFrom: 300 * K, emptied: true });
    expect(base.size).toBe(777 * K);
    await expectShown(base, shown);
    await expectShown(top, shown);
  });

  it('makes zero in the base what a shorter layer between hid', async () => {
    const { nodes, top } = await chain(
      await newImage(1024 * K),
      await newImage(256 * K),
      await newImage(900 * K),
    );
    const [base] = nodes as [OverlayNode, OverlayNode, OverlayNode];
    await base.write(0, noise(1024 * K, 1));
    await top.write(500 * K, noise(20 * K, 2));
    const shown = await contents(top);
    const beyond = (await contents(base)).subarray(900 * K);
    await commit(top, base);
    const now = await contents(base);
    expect(Buffer.compare(now.subarray(0, 900 * K), shown)).toBe(0);
    expect(Buffer.compare(now.subarray(900 * K), beyond)).toBe(0);
  });

  it('leaves a base that is larger as large as it is', async () => {
    const { nodes, top } = await chain(await newImage(1024 * K), await newImage(100 * K + 5));
    const [base] = nodes as [OverlayNode, OverlayNode];
    await base.write(0, noise(1024 * K, 1));
    await top.write(99 * K, noise(K + 5, 2));
    const expected = await contents(base);
    expected.set(noise(K + 5, 2), 99 * K);
    await commit(top, base);
    await expectShown(base, expected);
  });

  it.each([16 * K, 256 * K])('between clusters of other sizes (%s)', async (clusterSize) => {
    const { nodes, top } = await chain(await newImage(2048 * K, clusterSize), await newImage(2048 * K));
    const [base] = nodes as [OverlayNode, OverlayNode];
    await base.write(0, noise(2048 * K, 1));
    for (let i = 0; i < 16; i += 3) await top.write(i * 128 * K + i, noise(3000, i + 2));
    await top.writeZeroes(192 * K, 64 * K);
    const shown = await contents(top);
    await commit(top, base, { concurrency: 5 });
    await expectShown(base, shown);
    await expectShown(top, shown);
  });

  it('refuses a base that is not in the chain, itself, and one that is read-only', async () => {
    const { mid, top } = await sample();
    const stranger = await keep(openImage(await newImage(1024 * K)));
    await expect(commit(top, stranger)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', op: 'commit' });
    await expect(commit(top, top)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    const base = await keep(openImage(mid.image, undefined, { readOnly: true }));
    const over = await keep(openImage(await newImage(1024 * K), base));
    await expect(commit(over, base)).rejects.toMatchObject({ code: 'ERR_READ_ONLY' });
  });
});

describe('a commit that fails', () => {
  it('at any request leaves the top as it was, and can be repeated', { timeout: 120_000 }, async () => {
    for (const depth of [1, 2] as const) {
      for (let k = 0; ; k++) {
        const { base, mid, top, shown } = await sample();
        const target = depth === 1 ? mid : base;
        const own = clusters(top);
        const count = failAt(k, [base, mid, top]);
        const error = await commit(top, target).catch((error: unknown) => error);
        for (const node of [base, mid, top]) node.before = undefined;
        if (count.seen <= k) break;
        expect(error).toMatchObject({ code: 'EIO' });
        await expectShown(top, shown);
        // The very last flush comes when everything is done.
        if (clusters(top).length > 0) expect(clusters(top)).toEqual(own);
        else await expectShown(target, shown);
        await commit(top, target);
        await expectShown(target, shown);
        await expectShown(top, shown);
      }
    }
  });

  it('while a base grows takes the growth back', async () => {
    const { nodes, top } = await growing();
    const [root, base] = nodes as [OverlayNode, OverlayNode, OverlayNode];
    await root.write(0, noise(1024 * K, 1));
    const shown = await contents(top);
    base.before = (op) => {
      if (op === 'writeZeroes') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    await expect(commit(top, base)).rejects.toMatchObject({
      code: 'ENOSPC',
      op: 'writeZeroes',
      offset: expect.any(Number),
    });
    base.before = undefined;
    expect(base.size).toBe(300 * K);
    await expectShown(top, shown);
  });

  it('by an abort rejects with its reason and leaves the top', async () => {
    const { mid, top, shown } = await sample();
    const controller = new AbortController();
    const reason = new Error('enough');
    let writes = 0;
    mid.before = async (op) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (op === 'write' && ++writes === 2) controller.abort(reason);
    };
    await expect(commit(top, mid, { signal: controller.signal, concurrency: 1 })).rejects.toBe(reason);
    mid.before = undefined;
    await expectShown(top, shown);
    expect(clusters(top).length).toBeGreaterThan(0);
  });
});
