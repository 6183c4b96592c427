import type { Recipe } from '../recipe.ts';

const external = (
  name: string,
  about: string,
  tags: string[],
  options: string,
  ...writes: string[]
): Recipe => ({
  name,
  about,
  tags: ['data-file', ...tags],
  with: [name.replace('.qcow2', '.data')],
  make(kit) {
    const data = name.replace('.qcow2', '.data');
    kit.img(`create -f qcow2 -o data_file=${data},${options} ${name} 96k`);
    kit.io(name, ...writes);
  },
});

export const dataFiles: Recipe[] = [
  external(
    'data-file.qcow2',
    'an external data file',
    [],
    'cluster_size=4k',
    'write -P 2 40k 8k',
    'write -P 1 1000 9000',
    'write -z 44k 4k',
  ),
  external(
    'data-file-raw.qcow2',
    'an external data file that is a raw image too',
    [],
    'data_file_raw=on,cluster_size=4k',
    'write -P 1 1000 9000',
    'write -P 2 40k 8k',
    'write -z 44k 4k',
  ),
  external(
    'data-file-extended.qcow2',
    'an external data file with subclusters',
    ['extended-l2'],
    'extended_l2=on,cluster_size=16k',
    'write -P 1 1000 9000',
    'write -P 2 40k 8k',
    'write -z 44k 1k',
  ),
  {
    name: 'data-file-backed.qcow2',
    about: 'an external data file and a backing file',
    tags: ['data-file', 'backing', 'raw-behind'],
    with: ['data-file-backed.data', 'data-file-backed.raw'],
    make(kit) {
      kit.content('data-file-backed.raw', 'text', 64 << 10, 41);
      kit.img(
        `create -f qcow2 -o data_file=data-file-backed.data,cluster_size=4k -b data-file-backed.raw -F raw ${this.name}`,
      );
      kit.io(this.name, 'write -P 1 1000 9000', 'write -z 32k 8k');
    },
  },
];
