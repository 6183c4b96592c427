import type { Recipe } from '../recipe.ts';

function converted(name: string, about: string, tags: string[], options: string): Recipe {
  return {
    name,
    about,
    tags,
    make(kit) {
      kit.content('content.raw', 'text', 40 << 10, name.length);
      kit.img(`convert -f raw -O qcow2 -m 1 -o ${options} content.raw ${name}`);
    },
  };
}

const refcountWidths = [1, 2, 4, 8, 16, 32, 64].map((bits) =>
  converted(
    `refcount-${bits}.qcow2`,
    `refcounts of ${bits} bits`,
    ['refcount'],
    `cluster_size=4k,refcount_bits=${bits}`,
  ),
);

export const versions: Recipe[] = [
  converted('v2.qcow2', 'version 2 (compat 0.10)', ['v2'], 'compat=0.10,cluster_size=4k'),
  converted(
    'v3.qcow2',
    'version 3, default options but for the cluster size',
    ['v3'],
    'compat=1.1,cluster_size=4k',
  ),
  converted('default.qcow2', 'every option at its default: clusters of 64 KiB', ['v3'], 'compat=1.1'),
  converted('v2-default.qcow2', 'version 2, every other option at its default', ['v2'], 'compat=0.10'),
  converted(
    'lazy-refcounts.qcow2',
    'lazy refcounts, closed cleanly',
    ['lazy'],
    'lazy_refcounts=on,cluster_size=4k',
  ),
  ...refcountWidths,
  {
    name: 'v2-backed.qcow2',
    about: 'version 2 with a backing file: its header has no room for more than the name',
    tags: ['v2', 'backing'],
    with: ['v2-base.qcow2'],
    make(kit) {
      kit.content('content.raw', 'text', 64 << 10, 3);
      kit.img('convert -f raw -O qcow2 -m 1 -o compat=0.10,cluster_size=4k content.raw v2-base.qcow2');
      kit.img(`create -f qcow2 -o compat=0.10,cluster_size=4k -b v2-base.qcow2 -F qcow2 ${this.name}`);
      kit.io(this.name, 'write -P 0x21 5000 9000', 'write -z 32k 4k');
    },
  },
  {
    name: 'upgraded.qcow2',
    about: 'made as version 2, amended to version 3 with lazy refcounts',
    tags: ['v3', 'lazy'],
    make(kit) {
      kit.img(`create -f qcow2 -o compat=0.10,cluster_size=4k ${this.name} 128k`);
      kit.io(this.name, 'write -P 7 1k 20k');
      kit.img(`amend -f qcow2 -o compat=1.1,lazy_refcounts=on ${this.name}`);
      kit.io(this.name, 'write -z 60k 8k', 'write -P 8 66k 1k');
    },
  },
];
