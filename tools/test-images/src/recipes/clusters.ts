import type { Recipe } from '../recipe.ts';

const sizes = [
  512,
  1 << 10,
  1 << 11,
  1 << 12,
  1 << 13,
  1 << 14,
  1 << 15,
  1 << 16,
  1 << 17,
  1 << 18,
  1 << 19,
  1 << 20,
  1 << 21,
];

const show = (bytes: number): string =>
  bytes < 1024 ? `${bytes}` : bytes < 1 << 20 ? `${bytes >> 10}k` : `${bytes >> 20}M`;

/** Every cluster size: whole clusters, parts of clusters, zero clusters, holes. */
const clusterSizes = sizes.map((cluster, i): Recipe => {
  const name = `cluster-${show(cluster)}.qcow2`;
  // Enough for two L2 tables where clusters are small, and for few clusters where they are large.
  const size = Math.max(3 * cluster + 512, 96 << 10);
  return {
    name,
    about: `clusters of ${cluster} bytes`,
    tags: ['cluster-size'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=${cluster} ${name} ${size}`);
      kit.content('part.bin', 'text', 3000, i);
      kit.io(
        name,
        `write -s part.bin 0 3000`,
        `write -s part.bin ${cluster - 100} 3000`,
        `write -z ${2 * cluster} ${cluster}`,
        `write -P ${i + 1} ${size - 512} 512`,
      );
    },
  };
});

/** Enough 512-byte clusters for an L1 table of several clusters and many L2 tables. */
const manyTables: Recipe = {
  name: 'many-l2.qcow2',
  about: 'an L1 table of three clusters: 160 L2 tables are possible, some are there',
  tags: ['cluster-size'],
  make(kit) {
    kit.img(`create -f qcow2 -o cluster_size=512 ${this.name} ${160 * 64 * 512}`);
    kit.content('part.bin', 'text', 40_000, 77);
    kit.io(
      this.name,
      ...[0, 1, 63, 64, 65, 100, 158].map((table) => `write -s part.bin ${table * 32768 + 32000} 1500`),
    );
    kit.io(this.name, 'write -s part.bin 1000000 40000');
  },
};

/** Clusters written from the last to the first: nothing is contiguous in the file. */
const backwards: Recipe = {
  name: 'backwards.qcow2',
  about: 'clusters allocated in reverse order',
  tags: ['layout'],
  make(kit) {
    kit.img(`create -f qcow2 -o cluster_size=2k ${this.name} 64k`);
    for (let at = 62; at >= 0; at -= 2) kit.io(this.name, `write -P ${at + 1} ${at}k 2k`);
  },
};

export const clusters: Recipe[] = [...clusterSizes, manyTables, backwards];
