import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pattern, random } from '../content.ts';
import type { Kit } from '../kit.ts';
import type { Recipe } from '../recipe.ts';

const date = Date.UTC(2020, 0, 1) / 1000;
const clock = { E2FSPROGS_FAKE_TIME: String(date), SOURCE_DATE_EPOCH: String(date) };

const words =
  'block disk node file read write flush extent cluster snapshot the a of and with into from over zero data'.split(
    ' ',
  );

function prose(lines: number, seed: number): string {
  const next = random(seed);
  const line = () =>
    Array.from({ length: 8 + next() * 6 }, () => words[Math.floor(next() * words.length)]).join(' ');
  return Array.from({ length: lines }, () => `${line()}.\n`).join('');
}

function log(lines: number): string {
  const next = random(8);
  const entry = (i: number) =>
    `2020-01-01T00:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')} `;
  return Array.from(
    { length: lines },
    (_, i) => `${entry(i)}yard kernel: [${i}.${Math.floor(next() * 1e6)}] ${prose(1, i)}`,
  ).join('');
}

/** What a small machine has: settings, programs, documents, a log. */
const files: Record<string, () => string | Uint8Array> = {
  'etc/hostname': () => 'yard\n',
  'etc/os-release': () => 'NAME="Yard Linux"\nVERSION_ID="1.0"\nID=yard\n',
  'etc/fstab': () => 'LABEL=yard-root / ext4 defaults 0 1\n',
  'etc/passwd': () => 'root:x:0:0:root:/root:/bin/sh\nyard:x:1000:1000::/home/yard:/bin/sh\n',
  'usr/bin/busy': () => pattern('mixed', 300_000, 71),
  'usr/lib/libyard.so.1': () => pattern('mixed', 150_000, 72),
  'usr/share/doc/yard/manual.txt': () => prose(9000, 73),
  'var/log/messages': () => log(12_000),
  'home/yard/photo.bin': () => pattern('noise', 120_000, 74),
  'home/yard/notes.txt': () => prose(60, 75),
  ...Object.fromEntries(
    Array.from({ length: 120 }, (_, i) => [`usr/share/doc/yard/part-${i}.txt`, () => prose(20 + i, 100 + i)]),
  ),
};

function writeTree(root: string): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content(), { mode: 0o644 });
    utimesSync(path, date, date);
  }
  for (const name of readdirSync(root, { recursive: true }).sort().reverse())
    utimesSync(join(root, String(name)), date, date);
  utimesSync(root, date, date);
}

/** Writes into the overlay only what differs, as a running system would have. */
function writeDifferences(kit: Kit, before: Buffer, after: Buffer, overlay: string): void {
  const block = 4096;
  for (let at = 0; at < after.length; ) {
    let end = at;
    while (end < after.length && before.compare(after, end, end + block, end, end + block) !== 0)
      end += block;
    if (end === at) {
      at += block;
      continue;
    }
    kit.save('changed.bin', after.subarray(at, end));
    kit.io(overlay, `write -s changed.bin ${at} ${end - at}`);
    at = end;
  }
}

export const demo: Recipe[] = [
  {
    name: 'demo.qcow2',
    about:
      'the root file system of a small machine (ext4, 64 MiB), compressed, and an overlay with a day of changes',
    tags: ['demo', 'compressed', 'zlib', 'backing'],
    with: ['demo-base.qcow2'],
    make(kit) {
      writeTree(join(kit.directory, 'tree'));
      kit.note('# tree/: the files of tools/test-images/src/recipes/demo.ts');
      const options = ['-q', '-t', 'ext4', '-L', 'yard-root', '-b', '4096', '-J', 'size=4', '-d', 'tree'];
      const fixed = [
        '-U',
        '6f1c8a52-2d1c-4c0b-9d6a-0b10c7a4d001',
        '-E',
        'hash_seed=6f1c8a52-2d1c-4c0b-9d6a-0b10c7a4d002,root_owner=0:0',
      ];
      kit.run('mke2fs', [...options, ...fixed, 'root.raw', '64M'], clock);
      // A file's change time is that of its making here; nothing else depends on when this runs.
      const inodes = Array.from({ length: 400 }, (_, i) => `set_inode_field <${i + 11}> ctime @${date}`);
      kit.save(
        'pin.txt',
        Buffer.from(
          inodes
            .flatMap((line) => [
              line,
              line.replace('ctime', 'ctime_extra').replace(/@.*/, '0'),
              line.replace('ctime', 'atime'),
              line.replace('ctime', 'atime_extra').replace(/@.*/, '0'),
            ])
            .join('\n'),
        ),
      );
      kit.run('debugfs', ['-w', '-f', 'pin.txt', 'root.raw'], clock);
      kit.img('convert -f raw -O qcow2 -m 1 -c root.raw demo-base.qcow2');
      const before = kit.read('root.raw');
      kit.save('day.txt', Buffer.from(prose(400, 76)));
      kit.save('day.cmd', Buffer.from('write day.txt home/yard/day.txt\nrm home/yard/notes.txt\n'));
      kit.run('debugfs', ['-w', '-f', 'day.cmd', 'root.raw'], clock);
      kit.img(`create -f qcow2 -o cluster_size=4k -b demo-base.qcow2 -F qcow2 ${this.name}`);
      writeDifferences(kit, before, kit.read('root.raw'), this.name);
    },
  },
];
