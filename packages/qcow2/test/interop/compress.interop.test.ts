import { statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pattern } from '../support/encode.ts';
import { interop, Workspace } from './qemu.ts';

/** Text, programs, a table of numbers, noise and zeroes: 4 MiB that compress like what is on disks. */
function content(): Buffer {
  const program = Buffer.from(pattern(1 << 18, 3)).toString('base64');
  const words = program.match(/.{1,7}/g) as string[];
  const seeds = pattern(1 << 20, 5);
  let text = '';
  for (let i = 0; text.length < 1 << 20; i++) text += `${words[(seeds[i] as number) * 3]} `;
  const numbers = Buffer.alloc(1 << 20);
  for (let i = 0; i < numbers.length; i += 8) numbers.writeUInt32LE((i * 2654435761) & 0xfffff, i);
  const parts = [text.slice(0, 1 << 20), program.slice(0, 1 << 18)].map((one) => Buffer.from(one, 'latin1'));
  const noise = Buffer.from(pattern(1 << 19, 7));
  return Buffer.concat([...parts, numbers, noise, Buffer.alloc(1 << 19)]).subarray(0, 3 << 20);
}

interop('compressed clusters that we write', () => {
  const space = new Workspace();

  it.each([
    ['zlib', 65536],
    ['zlib', 4096],
    ['zlib', 1 << 21],
    ['zstd', 65536],
    ['zstd', 4096],
    ['zstd', 1 << 21],
  ])('are read by QEMU, and are as small as its own: %s, clusters of %i bytes', async (type, clusterSize) => {
    const bytes = content();
    writeFileSync(space.path('content.raw'), bytes);
    const options = `compression_type=${type},cluster_size=${clusterSize}`;
    space.create('ours.qcow2', bytes.length, options);
    const file = { driver: 'file', filename: space.path('ours.qcow2') };
    const node = await space.registry.openNode({ driver: 'qcow2', readOnly: false, file });
    for (let at = 0; at < bytes.length; at += clusterSize) {
      const cluster = bytes.subarray(at, Math.min(at + clusterSize, bytes.length));
      if (cluster.some((byte) => byte !== 0)) await node.write(at, cluster, { compressed: true });
    }
    await node.close();
    space.img('check', 'ours.qcow2');
    space.img('compare', '-f', 'raw', '-F', 'qcow2', 'content.raw', 'ours.qcow2');
    space.img('convert', '-f', 'raw', '-O', 'qcow2', '-c', '-o', options, 'content.raw', 'theirs.qcow2');
    const [ours, theirs] = ['ours.qcow2', 'theirs.qcow2'].map((name) => statSync(space.path(name)).size) as [
      number,
      number,
    ];
    // We leave files ending with whole clusters.
    expect(ours).toBeLessThan(theirs * 1.02 + clusterSize);
  });
});
