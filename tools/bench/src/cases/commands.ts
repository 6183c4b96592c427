import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Images } from '../images.ts';
import type { Case, Measure } from '../pairs.ts';
import { wall } from '../run.ts';

const blockyard = fileURLToPath(new URL('../../../packages/cli/bin/blockyard.js', import.meta.url));
const nothing = (): Promise<Measure> => wall(process.execPath, ['-e', '0']);
const cli = (...args: string[]): Promise<Measure> => wall(process.execPath, [blockyard, ...args]);

/** Whole commands, from start to exit. */
export function commandCases(images: Images): Case[] {
  const fresh = async <T>(work: () => Promise<T>): Promise<T> => {
    await rm(images.target, { force: true });
    return await work();
  };
  const shape = ['convert', '-f', 'qcow2', '-O', 'raw', '-t', 'none', '-T', 'none', '-m', '8', '-W'];
  const convert = (name: string, source: string): Case => ({
    name: `convert ${name} to raw, direct`,
    peer: 'qemu-img convert',
    kind: 'time',
    unit: 's',
    bar: 1,
    ours: () => fresh(() => cli(...shape, source, images.target)),
    theirs: () => fresh(() => wall('qemu-img', [...shape, source, images.target])),
  });
  const small = (name: string, source: string): Case => ({
    name: `convert ${name} to raw`,
    peer: 'node -e 0',
    kind: 'time',
    unit: 's',
    bar: 3,
    ours: () => fresh(() => cli('convert', '-f', 'qcow2', '-O', 'raw', source, images.target)),
    theirs: nothing,
  });
  const toQcow2 = (name: string, source: string, ...args: string[]): Case => ({
    name: `convert ${name}`,
    peer: 'qemu-img convert',
    kind: 'time',
    unit: 's',
    bar: 1,
    ours: () => fresh(() => cli(...written, ...args, source, images.target)),
    theirs: () => fresh(() => wall('qemu-img', [...written, ...args, source, images.target])),
  });
  const written = ['convert', '-f', 'raw', '-O', 'qcow2', '-t', 'none', '-T', 'none', '-W'];
  const zstd = ['-c', '-o', 'compression_type=zstd'];
  return [
    toQcow2('2 GiB raw to qcow2, direct', images.raw),
    toQcow2('512 MiB text to zlib qcow2', images.text, '-c'),
    toQcow2('512 MiB text to zstd qcow2', images.text, ...zstd),
    toQcow2('256 MiB noise to zlib qcow2', images.small, '-c'),
    toQcow2('256 MiB noise to zstd qcow2', images.small, ...zstd),
    {
      name: 'check 1 TiB qcow2, 16 GiB allocated',
      peer: 'qemu-img check',
      kind: 'time',
      unit: 's',
      bar: 2,
      ours: () => cli('check', '-f', 'qcow2', images.large),
      theirs: () => wall('qemu-img', ['check', '-f', 'qcow2', images.large]),
    },
    convert('2 GiB allocated qcow2', images.qcow2),
    convert('512 MiB zlib qcow2', images.zlib),
    convert('512 MiB zstd qcow2', images.zstd),
    small('100 GiB empty qcow2', images.empty),
    small('1 GiB metadata-preallocated qcow2', images.preallocated),
    {
      name: 'blockyard info',
      peer: 'node -e 0',
      kind: 'time',
      unit: 's',
      bar: 2,
      ours: () => cli('info', images.qcow2),
      theirs: nothing,
    },
  ];
}
