import type { Recipe } from '../recipe.ts';

const backed = (name: string, extended: boolean): Recipe => ({
  name,
  about: `zero clusters that hide a backing file${extended ? ', and zero subclusters' : ''}`,
  tags: ['zero', 'backing', ...(extended ? ['extended-l2'] : [])],
  with: [name.replace('.qcow2', '.raw')],
  make(kit) {
    const base = name.replace('.qcow2', '.raw');
    kit.content(base, 'text', 192 << 10, 21);
    const options = extended ? 'extended_l2=on,cluster_size=16k' : 'cluster_size=4k';
    kit.img(`create -f qcow2 -o ${options} -b ${base} -F raw ${name}`);
    kit.io(
      name,
      'write -z 16k 16k',
      'write -P 3 48k 16k',
      'write -z 52k 4k',
      'write -z -u 56k 4k',
      'write -P 4 96k 2k',
      'write -z 97k 512',
      'write -z -u 160k 32k',
      'discard 112k 16k',
    );
  },
});

const preallocated = (['metadata', 'falloc', 'full'] as const).map(
  (mode): Recipe => ({
    name: `preallocated-${mode}.qcow2`,
    about: `preallocation=${mode}, written in two places`,
    tags: ['preallocation'],
    make(kit) {
      kit.img(`create -f qcow2 -o preallocation=${mode},cluster_size=4k ${this.name} 96k`);
      kit.io(this.name, 'write -P 0x31 3000 3000', 'write -P 0x32 64k 4k');
    },
  }),
);

/** Subclusters in every state: data, zero, unallocated, within one cluster and across. */
const subclusters: Recipe = {
  name: 'subclusters.qcow2',
  about: 'extended L2 entries with data, zero and unallocated subclusters mixed',
  tags: ['extended-l2'],
  make(kit) {
    kit.img(`create -f qcow2 -o extended_l2=on,cluster_size=16k ${this.name} 128k`);
    kit.io(
      this.name,
      'write -P 1 512 512',
      'write -P 2 2k 3k',
      'write -z 4k 512',
      'write -P 3 15k 2k',
      'write -z 32k 16k',
    );
    kit.io(this.name, 'write -P 4 40k 512', 'write -P 5 64k 16k', 'write -z 70k 1k', 'write -P 6 127k 1k');
  },
};

export const zeroes: Recipe[] = [
  backed('zero-backed.qcow2', false),
  backed('zero-subclusters.qcow2', true),
  subclusters,
  {
    name: 'extended-l2-64k.qcow2',
    about: 'extended L2 entries with clusters of 64 KiB and subclusters of 2 KiB',
    tags: ['extended-l2'],
    make(kit) {
      kit.img(`create -f qcow2 -o extended_l2=on ${this.name} 1M`);
      kit.io(
        this.name,
        'write -P 1 1000 5000',
        'write -P 2 63k 2k',
        'write -z 126k 4k',
        'write -P 3 1022k 2k',
      );
    },
  },
  {
    name: 'zero.qcow2',
    about: 'plain and allocated zero clusters, no backing file',
    tags: ['zero'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 128k`);
      kit.io(this.name, 'write -P 1 0 64k', 'write -z 8k 8k', 'write -z -u 24k 8k', 'write -z 96k 16k');
    },
  },
  {
    name: 'zero-then-data.qcow2',
    about:
      'allocated zero clusters written again in part: the rest of each reads as zeroes, not as what was there',
    tags: ['zero'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 64k`);
      kit.io(
        this.name,
        'write -P 0xee 0 32k',
        'write -z 0 16k',
        'write -P 0x11 5000 50',
        'write -P 0x12 12k 1k',
      );
    },
  },
  {
    name: 'discarded.qcow2',
    about: 'clusters given back by discard',
    tags: ['zero'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 64k`);
      kit.io(this.name, 'write -P 0x44 0 64k');
      kit.run('qemu-io', ['-f', 'qcow2', '-d', 'unmap', '-c', 'discard 8k 24k', this.name]);
    },
  },
  ...preallocated,
];
