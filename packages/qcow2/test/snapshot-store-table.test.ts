import { describe, expect, it } from 'vitest';
import { readHeader } from '../src/index.ts';
import { readEntries } from '../src/snapshots.ts';
import { encodeSnapshot, encodeTable, nextId, tellsDiskSize } from '../src/write/snapshot-table.ts';
import { Encoder, field, patched, pattern } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, registry } from './support/open.ts';
import { snapshotsOf } from './support/transitions.ts';

const cluster = 65536;

const open = (image: Uint8Array) =>
  registry.openNode({ driver: 'qcow2', readOnly: false, file: inMemory(image), backing: null });

/** An image with one snapshot, whose entry in the table is another. */
function withEntry(entry: Uint8Array, builder = new ImageBuilder({ size: 4 * cluster })): Uint8Array {
  builder.data(0, pattern(cluster, 1));
  builder.snapshot('1', 'first');
  const image = builder.build().slice();
  const padded = new Uint8Array(Math.max(image.length, builder.snapshotsOffset + cluster));
  padded.set(image);
  const at = builder.snapshotsOffset;
  padded.set(entry, at);
  padded.set(image.subarray(at, at + 12), at);
  return padded;
}

/** What a newer program may write: more extra data than is known. */
const newer = new Encoder()
  .u64(0)
  .u32(0)
  .u16(1)
  .u16(5)
  .u32(1_600_000_000)
  .u32(7)
  .u64(123_456_789_012)
  .u32(99)
  .u32(48)
  .u64(5_000_000_000)
  .u64(3 * cluster)
  .u64(77)
  .bytes(pattern(24, 3))
  .text('9')
  .text('newer')
  .done();

const older = new Encoder()
  .u64(0)
  .u32(0)
  .u16(2)
  .u16(3)
  .u32(1)
  .u32(2)
  .u64(3)
  .u32(4_000_000_000)
  .u32(0)
  .text('ab')
  .text('old')
  .done();

describe('the table of snapshots', () => {
  it.each([
    ['with extra data that is not known', newer],
    ['without extra data', older],
  ])('keeps an entry %s as it is when others come and go', async (_name, entry) => {
    const data = withEntry(entry);
    const file = await registry.openNode({ driver: 'memory', data });
    const before = await readEntries(await readHeader(file), file);
    const node = await registry.openNode({ driver: 'qcow2', readOnly: false, file });
    await snapshotsOf(node).create('second');
    await snapshotsOf(node).create('third');
    const [first] = await readEntries(await readHeader(file), file);
    expect(Buffer.from(first?.bytes ?? []).toString('hex')).toBe(
      Buffer.from(before[0]?.bytes ?? []).toString('hex'),
    );
    await snapshotsOf(node).delete('second');
    const left = await readEntries(await readHeader(file), file);
    expect(left.map(({ bytes }) => bytes.length)).toEqual([
      entry.length,
      40 + 24 + 1 + 5 + (entry === newer ? 1 : 0),
    ]);
    expect(left[0]?.bytes.subarray(12)).toEqual(entry.subarray(12));
    await node.close();
  });

  it('tells the state of a machine that is larger than 32 bits can say', async () => {
    const node = await open(withEntry(newer));
    const told = { id: '9', name: 'newer', vmStateSize: 5_000_000_000, diskSize: 3 * cluster, icount: 77 };
    expect(await snapshotsOf(node).list()).toEqual([
      { ...told, dateSec: 1_600_000_000, dateNsec: 7, vmClockNsec: 123_456_789_012 },
    ]);
    await node.close();
  });

  it('does not let the disk change its size when a snapshot does not tell its own', async () => {
    const node = await open(withEntry(older));
    await expect(node.truncate(cluster, { shrink: true })).rejects.toThrow(/does not record the size/);
    await snapshotsOf(node).apply('ab');
    expect(node.size).toBe(4 * cluster);
    await snapshotsOf(node).delete('old');
    await node.truncate(cluster, { shrink: true });
    await node.close();
  });

  it('is encoded as it is read', async () => {
    const snapshot = {
      ...{ id: '3', name: 'café', l1TableOffset: 5 * cluster, l1Size: 2, dateSec: 4, dateNsec: 5 },
      ...{ vmClockNsec: 6, vmStateSize: 2 ** 40, diskSize: 12_345, icount: undefined },
    };
    const bytes = encodeSnapshot(snapshot);
    const image = new Uint8Array(9 * cluster);
    image.set(new ImageBuilder({ size: cluster }).build());
    const table = encodeTable([bytes, bytes], { path: '' } as never);
    image.set(table, 8 * cluster);
    const data = patched(patched(image, field.snapshotCount, 2, 4), field.snapshotsOffset, 8 * cluster, 8);
    const file = await registry.openNode({ driver: 'memory', data });
    const found = await readEntries(await readHeader(file), file);
    expect(found.map((one) => one.snapshot)).toEqual([snapshot, snapshot]);
    expect(found.every(tellsDiskSize)).toBe(true);
  });

  it('numbers a snapshot after the largest number', () => {
    const ids = (...all: string[]) => nextId(all.map((id) => ({ id }) as never));
    expect(ids()).toBe('1');
    expect(ids('3', '12', '7')).toBe('13');
    expect(ids('mine', '5b')).toBe('6');
  });
});
