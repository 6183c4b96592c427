import {
  alignUp,
  BlockNode,
  type Extent,
  type ReadOptions,
  type RequestOptions,
  readOnlySupports,
} from '@blockyard/core';
import { byteLength, fill, type IoData, slice } from '@blockyard/iov-utils';
import { settleAll } from './failure.ts';

/** Where one of the disks lies in the whole: its bytes, and zeroes up to `end`. */
interface Member {
  node: BlockNode;
  start: number;
  end: number;
}

/** As QEMU's tools see disks: the next one begins at a multiple of it. */
const sectorBytes = 512;

/** Several disks as one, each padded with zeroes to whole sectors. */
class ConcatNode extends BlockNode {
  readonly size: number;
  readonly #members: readonly Member[];

  constructor(nodes: readonly BlockNode[]) {
    const [first] = nodes as [BlockNode];
    super({
      driver: { name: 'concat', kind: 'filter' },
      context: { common: { ...first.common, readOnly: true, nodeName: undefined }, path: '' },
      supports: { ...readOnlySupports, blockStatus: true },
      children: Object.fromEntries(nodes.map((node, index) => [`part-${index}`, node])),
    });
    let end = 0;
    this.#members = nodes.map((node) => {
      const start = end;
      end = alignUp(start + node.size, sectorBytes);
      return { node, start, end };
    });
    this.size = end;
  }

  protected override async _read(offset: number, into: IoData, options: ReadOptions): Promise<void> {
    const stop = offset + byteLength(into);
    const work: Promise<unknown>[] = [];
    for (const { node, start, end } of this.#members) {
      const [from, to] = [Math.max(offset, start), Math.min(stop, end)];
      if (from >= to) continue;
      const dataEnd = Math.min(to, start + node.size);
      if (dataEnd < to) fill(slice(into, Math.max(from, dataEnd) - offset, to - offset), 0);
      if (from >= dataEnd) continue;
      const part = slice(into, from - offset, dataEnd - offset);
      work.push((async () => await node.read(from - start, part, options))());
    }
    await settleAll(work);
  }

  protected override async _blockStatus(
    offset: number,
    length: number,
    options: RequestOptions,
  ): Promise<Extent> {
    const { node, start, end } = this.#members.find((member) => offset < member.end) as Member;
    const inside = start + node.size - offset;
    if (inside <= 0) {
      const padding = { data: false, zero: true, present: false, depth: 0, compressed: false };
      return { offset, length: Math.min(length, end - offset), ...padding };
    }
    const extent = await node.blockStatus(offset - start, Math.min(length, inside), options);
    return { ...extent, offset };
  }

  /** Nothing was written. */
  protected override _flush(): void {}
}

/**
 * Disks one after the other, as a read-only node: the source of `qemu-img convert` with several files. Where a size is
 * no multiple of 512, zeroes follow up to the next one. Closing it closes the disks.
 */
export async function concat(nodes: readonly BlockNode[]): Promise<BlockNode> {
  if (nodes.length === 0) throw new RangeError('concat: expected at least one disk');
  const node = new ConcatNode(nodes);
  await node.refreshLimits();
  return node;
}
