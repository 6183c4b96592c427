import { describe, expect, it } from 'vitest';
import { field, pattern } from './support/encode.ts';
import { digest, Lab, snapshotsOf } from './support/transitions.ts';

const size = 20_000;
const sound = { corruptions: 0, leaks: 0, findings: [] };

/**
 * A disk behind whose end the L1 table goes on, as where a virtual machine's state was saved: a large disk is made, and
 * the header then tells of a smaller one.
 */
async function withState(): Promise<Lab> {
  const lab = await Lab.make({ size: 200_000, clusterSize: 512 });
  await lab.open(async (node) => {
    await node.write(0, pattern(size, 1));
    await node.write(65_536, pattern(50_000, 2));
  });
  const header = new DataView(new ArrayBuffer(8));
  header.setBigUint64(0, BigInt(size));
  lab.machine.file('disk').live.put(field.size, new Uint8Array(header.buffer));
  expect(await lab.check()).toEqual(sound);
  return lab;
}

describe('the state of a machine behind the end of the disk', () => {
  it('goes with the snapshot, and comes back with it', async () => {
    const lab = await withState();
    await lab.open((node) => snapshotsOf(node).create('with state'));
    expect(await lab.check()).toEqual(sound);
    await lab.open(async (node) => {
      await node.truncate(100_000);
      const zeroes = new Uint8Array(80_000);
      await node.read(20_000, zeroes.fill(1));
      expect(zeroes.every((byte) => byte === 0)).toBe(true);
      await node.write(50_000, pattern(50_000, 3));
      await snapshotsOf(node).create('without');
      await snapshotsOf(node).apply('with state');
    });
    expect(await lab.check()).toEqual(sound);
    expect((await lab.state()).disk).toBe(digest(pattern(size, 1)));
    // As a program that loads the state finds it.
    const header = new DataView(new ArrayBuffer(8));
    header.setBigUint64(0, 200_000n);
    lab.machine.file('disk').live.put(field.size, new Uint8Array(header.buffer));
    expect(digest((await lab.read()).subarray(65_536, 115_536))).toBe(digest(pattern(50_000, 2)));
  });

  it('is given back with the last that has it', async () => {
    const lab = await withState();
    await lab.open(async (node) => {
      await snapshotsOf(node).create('with state');
      await node.truncate(30_000);
      await snapshotsOf(node).delete('with state');
    });
    expect(await lab.check()).toEqual(sound);
  });

  it('does not come to light when the disk grows or shrinks', async () => {
    for (const next of [120_000, 10_000]) {
      const lab = await withState();
      await lab.open((node) => node.truncate(next, { shrink: true }));
      await lab.open((node) => node.truncate(200_000));
      const disk = new Uint8Array(200_000);
      disk.set(pattern(size, 1).subarray(0, next));
      expect((await lab.state()).disk).toBe(digest(disk));
      expect(await lab.check()).toEqual(sound);
    }
  });
});
