import type { Recipe } from '../recipe.ts';

const overRaw = (
  name: string,
  about: string,
  baseBytes: number,
  overlay: string,
  ...writes: string[]
): Recipe => ({
  name,
  about,
  tags: ['backing', 'raw-behind'],
  with: [name.replace('.qcow2', '.raw')],
  make(kit) {
    const base = name.replace('.qcow2', '.raw');
    kit.content(base, 'text', baseBytes, 31);
    kit.img(`create -f qcow2 -o cluster_size=4k -b ${base} -F raw ${name} ${overlay}`);
    kit.io(name, ...writes);
  },
});

export const chains: Recipe[] = [
  overRaw(
    'over-raw.qcow2',
    'a raw backing file of the same size',
    96 << 10,
    '96k',
    'write -P 1 10000 10000',
    'write -z 64k 4k',
  ),
  overRaw(
    'over-short.qcow2',
    'a backing file that ends within a cluster of the overlay',
    50_000,
    '128k',
    'write -P 1 48k 1k',
    'write -P 2 100k 1k',
  ),
  overRaw(
    'over-odd.qcow2',
    'a backing file of 12 345 bytes: the rest of its last sector reads as zeroes',
    12_345,
    '32k',
    'write -P 1 0 100',
  ),
  overRaw('over-long.qcow2', 'a backing file longer than the overlay', 128 << 10, '40k', 'write -P 1 39k 1k'),
  {
    name: 'over-qcow2.qcow2',
    about: 'a qcow2 backing file with larger clusters',
    tags: ['backing'],
    with: ['over-qcow2-base.qcow2'],
    make(kit) {
      kit.content('content.raw', 'text', 128 << 10, 32);
      kit.img('convert -f raw -O qcow2 -m 1 -o cluster_size=16k content.raw over-qcow2-base.qcow2');
      kit.img(`create -f qcow2 -o cluster_size=2k -b over-qcow2-base.qcow2 -F qcow2 ${this.name}`);
      kit.io(this.name, 'write -P 1 1k 1k', 'write -P 2 20k 30k', 'write -z 100k 4k');
    },
  },
  {
    name: 'chain-3.qcow2',
    about: 'three images deep: qcow2 over qcow2 over raw, each shorter than the one above',
    tags: ['backing', 'raw-behind', 'deep'],
    with: ['chain-2.qcow2', 'chain-1.raw'],
    make(kit) {
      kit.content('chain-1.raw', 'text', 40_960, 33);
      kit.img('create -f qcow2 -o cluster_size=4k -b chain-1.raw -F raw chain-2.qcow2 64k');
      kit.io('chain-2.qcow2', 'write -P 2 8k 8k', 'write -z 20k 4k', 'write -P 2 60k 4k');
      kit.img(`create -f qcow2 -o cluster_size=1k -b chain-2.qcow2 -F qcow2 ${this.name} 96k`);
      kit.io(this.name, 'write -P 3 10k 2k', 'write -z 12k 2k', 'write -P 3 62k 4k');
    },
  },
  {
    name: 'chain-shrunk.qcow2',
    about: 'a short image in the middle hides the end of the long one behind it',
    tags: ['backing', 'raw-behind', 'deep'],
    with: ['chain-shrunk-2.qcow2', 'chain-shrunk-1.raw'],
    make(kit) {
      kit.content('chain-shrunk-1.raw', 'text', 80 << 10, 34);
      kit.img('create -f qcow2 -o cluster_size=4k -b chain-shrunk-1.raw -F raw chain-shrunk-2.qcow2 30k');
      kit.io('chain-shrunk-2.qcow2', 'write -P 2 4k 4k');
      kit.img(`create -f qcow2 -o cluster_size=4k -b chain-shrunk-2.qcow2 -F qcow2 ${this.name} 80k`);
      kit.io(this.name, 'write -P 3 0 1k', 'write -P 4 60k 1k');
    },
  },
  {
    name: 'no-backing-format.qcow2',
    about: 'names a qcow2 backing file without its format: opened only where probing is allowed',
    tags: ['backing', 'no-format'],
    with: ['no-backing-format-base.qcow2'],
    make(kit) {
      kit.img('create -f qcow2 -o cluster_size=4k no-backing-format-base.qcow2 64k');
      kit.io('no-backing-format-base.qcow2', 'write -P 1 10k 10k');
      kit.img(
        `create -f qcow2 -o compat=0.10,cluster_size=4k -b no-backing-format-base.qcow2 -F qcow2 ${this.name}`,
      );
      kit.io(this.name, 'write -P 2 15k 1k');
      // qemu-img no longer makes such images: drop the extension that holds the format.
      kit.patch(this.name, 72, new Uint8Array(16));
    },
  },
];
