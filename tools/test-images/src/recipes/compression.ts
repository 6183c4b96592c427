import type { Recipe } from '../recipe.ts';

const types = ['zlib', 'zstd'] as const;

/** `convert -c`: some clusters compress, some do not and are stored as they are. */
const convertedWith = types.flatMap((type) =>
  ['512', '4k', '64k', '2M'].map(
    (cluster): Recipe => ({
      name: `${type}-${cluster}.qcow2`,
      about: `compressed with ${type} by convert -c, clusters of ${cluster}`,
      tags: ['compressed', type],
      make(kit) {
        kit.content(
          'content.raw',
          cluster === '2M' ? 'text' : 'mixed',
          cluster === '512' ? 30_720 : cluster === '2M' ? 5 << 20 : 200_704,
          11,
        );
        kit.img(
          `convert -f raw -O qcow2 -m 1 -c -o compression_type=${type},cluster_size=${cluster} content.raw ${this.name}`,
        );
      },
    }),
  ),
);

const writtenWith = types.map(
  (type): Recipe => ({
    name: `${type}-write.qcow2`,
    about: `${type} clusters by qemu-io write -c, among plain ones, and one of them overwritten in part`,
    tags: ['compressed', type],
    make(kit) {
      kit.img(`create -f qcow2 -o compression_type=${type},cluster_size=4k ${this.name} 256k`);
      kit.content('text.bin', 'text', 4096, 5);
      kit.content('noise.bin', 'noise', 4096, 6);
      kit.io(
        this.name,
        'write -c -s text.bin 0 4k',
        'write -c -s text.bin 8k 4k',
        'write -s noise.bin 4k 4k',
        'write -c -s noise.bin 12k 4k',
        'write -c -P 0x5a 64k 4k',
        'write -c -P 0 68k 4k',
        'write -c -s text.bin 72k 4k',
      );
      kit.io(this.name, 'write -P 0x77 74000 100', 'write -c -s text.bin 252k 4k');
    },
  }),
);

const extras: Recipe[] = [
  {
    name: 'zlib-v2.qcow2',
    about: 'compressed with zlib, version 2',
    tags: ['compressed', 'zlib', 'v2'],
    make(kit) {
      kit.content('content.raw', 'mixed', 100_352, 12);
      kit.img(`convert -f raw -O qcow2 -m 1 -c -o compat=0.10,cluster_size=8k content.raw ${this.name}`);
    },
  },
  {
    name: 'zlib-backed.qcow2',
    about: 'compressed clusters over a compressed backing file',
    tags: ['compressed', 'zlib', 'backing'],
    with: ['zlib-base.qcow2'],
    make(kit) {
      kit.content('content.raw', 'mixed', 131_072, 13);
      kit.content('text.bin', 'text', 8192, 14);
      kit.img('convert -f raw -O qcow2 -m 1 -c -o cluster_size=8k content.raw zlib-base.qcow2');
      kit.img(`create -f qcow2 -o cluster_size=8k -b zlib-base.qcow2 -F qcow2 ${this.name}`);
      kit.io(this.name, 'write -c -s text.bin 8k 8k', 'write -P 9 30000 10', 'write -c -s text.bin 64k 8k');
    },
  },
  {
    name: 'zstd-extended-l2.qcow2',
    about: 'compressed clusters in an image with subclusters',
    tags: ['compressed', 'zstd', 'extended-l2'],
    make(kit) {
      kit.content('content.raw', 'mixed', 200_704, 15);
      kit.img(
        `convert -f raw -O qcow2 -m 1 -c -o compression_type=zstd,extended_l2=on,cluster_size=32k content.raw ${this.name}`,
      );
      kit.io(this.name, 'write -P 4 40000 2000', 'write -z 64k 1k');
    },
  },
];

export const compression: Recipe[] = [...convertedWith, ...writtenWith, ...extras];
