import type { Recipe } from '../recipe.ts';

/** The first entry of the first L2 table, and one that points at that very table. */
function firstEntry(image: Buffer): { at: number; good: Buffer; bad: Buffer } {
  const l1 = Number(image.readBigUInt64BE(40));
  const bad = Buffer.from(image.subarray(l1, l1 + 8));
  const at = Number(bad.readBigUInt64BE() & 0x00fffffffffffe00n);
  return { at, good: Buffer.from(image.subarray(at, at + 8)), bad };
}

export const states: Recipe[] = [
  {
    name: 'dirty.qcow2',
    about: 'lazy refcounts, and the writer was killed: the dirty bit is set, refcounts are behind',
    tags: ['dirty', 'lazy'],
    make(kit) {
      kit.img(`create -f qcow2 -o lazy_refcounts=on,cluster_size=4k ${this.name} 64k`);
      kit.io(this.name, 'write -P 1 0 8k');
      kit.ioFailing(this.name, 'write -P 2 4k 20k', 'write -z 40k 4k', 'flush', 'abort');
    },
  },
  {
    name: 'corrupt.qcow2',
    about:
      'marked corrupt by qemu after a write that would have hit metadata; the L2 entry was put right afterwards',
    tags: ['corrupt'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 64k`);
      kit.io(this.name, 'write -P 1 0 16k');
      const { at, good, bad } = firstEntry(kit.read(this.name));
      kit.patch(this.name, at, bad);
      kit.ioFailing(this.name, 'write -P 2 0 4k');
      kit.patch(this.name, at, good);
    },
  },
  {
    name: 'bitmaps.qcow2',
    about: 'two bitmaps, one recording and one not, dirty in places',
    tags: ['bitmaps'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 1M`);
      kit.io(this.name, 'write -P 1 0 8k');
      kit.img(`bitmap --add -g 64k ${this.name} backup`);
      kit.img(`bitmap --add -g 4k ${this.name} frozen`);
      kit.io(this.name, 'write -P 2 100k 20k', 'write -P 3 1000k 4k');
      kit.img(`bitmap --disable ${this.name} frozen`);
      kit.io(this.name, 'write -P 4 500k 4k');
    },
  },
  {
    name: 'bitmaps-in-use.qcow2',
    about: 'a recording bitmap left in use by a writer that was killed: its contents cannot be trusted',
    tags: ['bitmaps'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 256k`);
      kit.img(`bitmap --add -g 64k ${this.name} backup`);
      kit.ioFailing(this.name, 'write -P 2 100k 20k', 'flush', 'abort');
    },
  },
  {
    name: 'looks-raw.qcow2',
    about: 'a qcow2 image whose guest content begins with a qcow2 header: what is inside must not be probed',
    tags: ['probing'],
    make(kit) {
      kit.img('create -f qcow2 -o cluster_size=4k inner.qcow2 1M');
      kit.io('inner.qcow2', 'write -P 1 0 4k');
      kit.img(`convert -f raw -O qcow2 -m 1 -o cluster_size=4k inner.qcow2 ${this.name}`);
      kit.remove('inner.qcow2');
    },
  },
];
