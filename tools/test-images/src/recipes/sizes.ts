import type { Recipe } from '../recipe.ts';

const sized = (name: string, about: string, size: string, options: string, ...writes: string[]): Recipe => ({
  name,
  about,
  tags: ['size', ...(/[GT]$/.test(size) ? ['huge'] : [])],
  make(kit) {
    kit.img(`create -f qcow2 -o ${options} ${name} ${size}`);
    if (writes.length > 0) kit.io(name, ...writes);
  },
});

const raw = (name: string, bytes: number, seed: number): Recipe => ({
  name,
  about: `a raw image of ${bytes} bytes`,
  tags: ['size', 'raw'],
  make: (kit) => kit.content(name, 'text', bytes, seed),
});

export const sizes: Recipe[] = [
  sized('empty.qcow2', 'nothing was ever written', '1M', 'cluster_size=4k'),
  sized('size-0.qcow2', 'a disk of no bytes', '0', 'cluster_size=4k'),
  sized(
    'size-1-sector.qcow2',
    'a disk of 512 bytes in clusters of 64 KiB',
    '512',
    'cluster_size=64k',
    'write -P 1 100 300',
  ),
  sized(
    'size-partial.qcow2',
    'a size that is no multiple of the cluster',
    '35k',
    'cluster_size=4k',
    'write -P 1 30k 5k',
    'write -z 34k 1k',
  ),
  sized(
    'size-partial-512.qcow2',
    'a size that ends one sector into a cluster',
    '33280',
    'cluster_size=4k',
    'write -P 1 32k 512',
  ),
  sized(
    '100g.qcow2',
    '100 GiB, nearly empty',
    '100G',
    'cluster_size=64k',
    'write -P 1 0 4k',
    'write -P 2 50G 64k',
    'write -z 60G 1M',
    'write -P 3 107374178304 4k',
  ),
  sized(
    '3t.qcow2',
    '3 TiB, with bytes beyond 32 bits of sectors',
    '3T',
    'cluster_size=64k',
    'write -P 1 2199023255552 4k',
    'write -P 2 2199023251456 4k',
    'write -P 3 4294967296 512',
    'write -P 4 3298534882816 512',
  ),
  sized(
    '3t-2M.qcow2',
    '3 TiB in clusters of 2 MiB with 32 KiB subclusters',
    '3T',
    'cluster_size=2M,extended_l2=on',
    'write -P 1 2199023255552 4k',
    'write -z 2199025352704 64k',
  ),
  sized('15t.qcow2', '15 TiB in clusters of 2 MiB, empty', '15T', 'cluster_size=2M'),
  raw('odd.raw', 12_345, 61),
  raw('sectors.raw', 66_048, 62),
  raw('one-byte.raw', 1, 63),
  raw('no-bytes.raw', 0, 64),
  {
    name: 'resized.qcow2',
    about: 'grown and shrunk again, then grown over what was there',
    tags: ['size', 'resized'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 64k`);
      kit.io(this.name, 'write -P 1 0 64k');
      kit.img(`resize -f qcow2 --shrink ${this.name} 21k`);
      kit.img(`resize -f qcow2 ${this.name} 96k`);
      kit.io(this.name, 'write -P 2 90k 1k');
    },
  },
];
