import type { Recipe } from '../recipe.ts';

export const snapshots: Recipe[] = [
  {
    name: 'snapshots.qcow2',
    about: 'two snapshots, with changes between them and after',
    tags: ['snapshots'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 128k`);
      kit.io(this.name, 'write -P 1 0 40k');
      kit.img(`snapshot -c first ${this.name}`);
      kit.io(this.name, 'write -P 2 10k 10k', 'write -z 24k 4k', 'write -P 2 100k 4k');
      kit.img(`snapshot -c second ${this.name}`);
      kit.io(this.name, 'write -P 3 18k 4k', 'write -P 3 60k 8k', 'discard 100k 4k');
      kit.pinDates(this.name);
    },
  },
  {
    name: 'snapshot-resized.qcow2',
    about: 'a snapshot taken before the disk grew from 48 KiB to 128 KiB',
    tags: ['snapshots', 'resized'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 48k`);
      kit.io(this.name, 'write -P 1 0 48k');
      kit.img(`snapshot -c small ${this.name}`);
      kit.img(`resize -f qcow2 ${this.name} 128k`);
      kit.io(this.name, 'write -P 2 40k 20k', 'write -P 3 120k 8k');
      kit.pinDates(this.name);
    },
  },
  {
    name: 'snapshot-names.qcow2',
    about: "snapshots whose name is another's id, with spaces, and in other letters",
    tags: ['snapshots'],
    make(kit) {
      kit.img(`create -f qcow2 -o cluster_size=4k ${this.name} 32k`);
      for (const [i, name] of ['2', 'before upgrade', 'vor dem Änderungstag ☃'].entries()) {
        kit.io(this.name, `write -P ${i + 1} ${i}k 8k`);
        kit.run('qemu-img', ['snapshot', '-c', name, this.name]);
      }
      kit.io(this.name, 'write -P 9 4k 1k');
      kit.pinDates(this.name);
    },
  },
  {
    name: 'snapshot-v2.qcow2',
    about: 'version 2 with a snapshot',
    tags: ['snapshots', 'v2'],
    make(kit) {
      kit.img(`create -f qcow2 -o compat=0.10,cluster_size=4k ${this.name} 64k`);
      kit.io(this.name, 'write -P 1 3k 20k');
      kit.img(`snapshot -c old ${this.name}`);
      kit.io(this.name, 'write -P 2 8k 4k');
      kit.pinDates(this.name);
    },
  },
  {
    name: 'snapshot-backed.qcow2',
    about: 'a snapshot in an image with a backing file',
    tags: ['snapshots', 'backing', 'raw-behind'],
    with: ['snapshot-backed.raw'],
    make(kit) {
      kit.content('snapshot-backed.raw', 'text', 64 << 10, 51);
      kit.img(`create -f qcow2 -o cluster_size=4k -b snapshot-backed.raw -F raw ${this.name}`);
      kit.io(this.name, 'write -P 1 3k 20k');
      kit.img(`snapshot -c old ${this.name}`);
      kit.io(this.name, 'write -P 2 8k 4k', 'write -z 32k 4k');
      kit.pinDates(this.name);
    },
  },
];
