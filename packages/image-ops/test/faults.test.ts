import {
  type BlockDriver,
  type BlockNode,
  type CreateContext,
  createRegistry,
  memory,
  type OpenContext,
  PassThroughNode,
  type RequestOptions,
  type WriteOptions,
} from '@blockyard/core';
import type { IoData } from '@blockyard/iov-utils';
import { qcow2 } from '@blockyard/qcow2';
import { describe, expect, it } from 'vitest';
import { check, commit, convert, rebase } from '../src/index.ts';
import { contents, noise } from './support.ts';

const K = 1024;
const size = 512 * K;

/** Counts down writes and flushes of all files, and makes one fail. */
const fuse = { left: Number.POSITIVE_INFINITY, burnt: false };

class FusedNode extends PassThroughNode {
  constructor(file: BlockNode, context: OpenContext) {
    super(file, context, 'fused');
  }
  async #burn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (fuse.left-- !== 0) return;
    fuse.burnt = true;
    throw Object.assign(new Error('it broke'), { code: 'EIO' });
  }
  protected override async _write(offset: number, from: IoData, options: WriteOptions): Promise<void> {
    await this.#burn();
    await this.file.write(offset, from, options);
  }
  protected override async _flush(options: RequestOptions): Promise<void> {
    await this.#burn();
    await this.file.flush(options);
  }
}

const fused = {
  name: 'fused',
  kind: 'filter',
  help: 'a test',
  options: { file: { type: 'node', required: true, help: 'below' } },
  open: async ({ file }: { file: BlockNode }, context: OpenContext) =>
    new FusedNode(await context.openChild('file', file), context),
} as unknown as BlockDriver;

const format = qcow2();
const drivers = createRegistry([memory(), fused, format] as unknown as BlockDriver[]);

/** The file of a new image. It outlives the nodes that are opened on it. */
async function newFile(): Promise<BlockNode> {
  const file = await drivers.openNode({ driver: 'memory', size: 0 });
  await format.create?.(file, { size, clusterSize: 4096 }, { registry: drivers } as CreateContext);
  return file;
}

const open = (file: BlockNode, backing: BlockNode | null = null) =>
  drivers.openNode({ driver: 'qcow2', file: { driver: 'fused', file }, backing, discard: 'unmap' } as never);

async function withDisk<T>(
  files: readonly BlockNode[],
  work: (nodes: BlockNode[]) => Promise<T>,
): Promise<T> {
  const nodes: BlockNode[] = [];
  for (const file of files) nodes.push(await open(file, nodes.at(-1) ?? null));
  try {
    return await work(nodes);
  } finally {
    for (const node of nodes.reverse()) await node.close().catch(() => {});
  }
}

const shownBy = (files: readonly BlockNode[]) =>
  withDisk(files, async (nodes) => await contents(nodes.at(-1) as BlockNode));

async function expectSound(...files: BlockNode[]): Promise<void> {
  for (const file of files)
    expect(await check(drivers, file, { format: 'qcow2' })).toMatchObject({ corruptions: 0, checkErrors: 0 });
}

async function chain(): Promise<BlockNode[]> {
  const files = [await newFile(), await newFile()];
  await withDisk(files, async ([base, top]) => {
    await base?.write(0, noise(300 * K, 1));
    await top?.write(100 * K, noise(50 * K, 2));
    await top?.writeZeroes(200 * K, 40 * K);
    await top?.write(400 * K, noise(30 * K, 3));
  });
  return files;
}

/** Does it again and again, with another write or flush failing each time, until none is left to fail. */
async function atEvery(
  attempt: (failed: boolean) => Promise<void>,
  start: () => Promise<() => Promise<unknown>>,
) {
  for (let k = 0; ; k++) {
    const work = await start();
    Object.assign(fuse, { left: k, burnt: false });
    const error = await work().then(
      () => undefined,
      (error: unknown) => error,
    );
    const { burnt } = fuse;
    fuse.left = Number.POSITIVE_INFINITY;
    // What fails while the image is closed is not the operation's failure.
    if (burnt && error !== undefined) expect(error).toMatchObject({ code: 'EIO' });
    await attempt(burnt);
    if (burnt) continue;
    expect(k).toBeGreaterThan(5);
    return;
  }
}

const same = (a: Uint8Array, b: Uint8Array) => expect(Buffer.compare(a, b)).toBe(0);

describe('with a qcow2 file that fails at any write or flush', { timeout: 240_000 }, () => {
  it('a commit leaves sound images and the same disk, and can be repeated', async () => {
    let files: BlockNode[];
    let shown: Uint8Array;
    await atEvery(
      async () => {
        await expectSound(...files);
        same(await shownBy(files), shown);
        await withDisk(files, ([base, top]) => commit(top as BlockNode, base as BlockNode));
        same(await shownBy(files), shown);
        same(await shownBy(files.slice(0, 1)), shown);
        await expectSound(...files);
      },
      async () => {
        files = await chain();
        shown = await shownBy(files);
        return () => withDisk(files, ([base, top]) => commit(top as BlockNode, base as BlockNode));
      },
    );
  });

  it('a rebase leaves a sound image and the same disk', async () => {
    let files: BlockNode[];
    let other: BlockNode;
    let shown: Uint8Array;
    const rebaseTop = async () => {
      const newBacking = await open(other);
      try {
        await withDisk(files, ([, top]) =>
          rebase(top as BlockNode, { newBacking, name: 'other', format: 'qcow2' }),
        );
      } finally {
        await newBacking.close();
      }
    };
    await atEvery(
      async () => {
        await expectSound(...files);
        same(await shownBy(files), shown);
        await rebaseTop();
        same(await shownBy([other, files[1] as BlockNode]), shown);
        await expectSound(...files);
      },
      async () => {
        files = await chain();
        other = await newFile();
        await withDisk([other], async ([node]) => await node?.write(50 * K, noise(400 * K, 9)));
        shown = await shownBy(files);
        return rebaseTop;
      },
    );
  });

  it.each([false, true])('a conversion leaves a sound image (compressed: %s)', async (compressed) => {
    const source = await drivers.openNode({ driver: 'memory', size });
    await source.write(10 * K, noise(200 * K, 1));
    await source.write(300 * K, new Uint8Array(100 * K).fill(7));
    const expected = await contents(source);
    let file: BlockNode;
    await atEvery(
      async (failed) => {
        await expectSound(file);
        if (!failed) same(await shownBy([file]), expected);
        await withDisk([file], async ([target]) => await convert(source, target as BlockNode));
        same(await shownBy([file]), expected);
        await expectSound(file);
      },
      async () => {
        file = await newFile();
        return () =>
          withDisk([file], async ([target]) => {
            await convert(source, target as BlockNode, { targetIsZero: true, compressed });
          });
      },
    );
  });
});
