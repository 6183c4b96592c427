import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { header } from '../support/qcow2.ts';
import { run } from '../support/run.ts';
import { noise, scratch } from '../support/scratch.ts';

const found = ['qemu-img', 'qemu-io'].every((tool) => spawnSync(tool, ['--version']).status === 0);
if (!found && process.env.CI)
  throw new Error('qemu-img or qemu-io is missing, and CI is set: install qemu-utils');
const suite = found ? describe : describe.skip;

const { directory, path } = scratch();
const MiB = 1 << 20;
const qemu = (...argv: string[]) => execFileSync('qemu-img', argv, { cwd: directory, encoding: 'utf8' });
const qemuEnds = (...argv: string[]) => spawnSync('qemu-img', argv, { cwd: directory, encoding: 'utf8' });

/** In the directory, as qemu-img runs there. */
async function ours(...argv: string[]) {
  const before = process.cwd();
  process.chdir(directory);
  try {
    return await run(argv);
  } finally {
    process.chdir(before);
  }
}

/** What qemu-img says of an image, but for its name and its room on the disk. */
function info(name: string): Record<string, unknown> {
  const { filename, 'actual-size': room, ...rest } = JSON.parse(qemu('info', '-U', '--output=json', name));
  void filename;
  void room;
  return rest;
}

suite('beside the real qemu-img (skipped without it)', () => {
  beforeAll(() => {
    writeFileSync(path('base.raw'), noise(3 * MiB + 512));
    truncateSync(path('base.raw'), 8 * MiB);
    qemu('convert', '-f', 'raw', '-O', 'qcow2', 'base.raw', 'base.qcow2');
  });

  it.each([
    '',
    'compat=0.10',
    'compat=v2,cluster_size=512',
    'compat=v3,cluster_size=2M',
    'cluster_size=4k,refcount_bits=1',
    'refcount_bits=64,lazy_refcounts=on',
    'extended_l2=on,cluster_size=32k',
    'compression_type=zstd',
    'preallocation=metadata',
    'preallocation=falloc,cluster_size=128k',
    'preallocation=full,extended_l2=on',
    'data_file=NAME.data',
    'data_file=NAME.data,data_file_raw=on',
    'backing_file=base.qcow2,backing_fmt=qcow2',
    'backing_file=base.raw,backing_fmt=raw,compat=0.10',
  ])('create -o %s makes what qemu-img makes', async (options) => {
    const argv = (name: string) => [
      ...['create', '-q', '-f', 'qcow2'],
      ...(options ? ['-o', options.replace('NAME', name)] : []),
      ...[`${name}.qcow2`, '5M'],
    ];
    expect(await ours(...argv('one'))).toMatchObject({ code: 0, err: '' });
    qemu(...argv('two'));
    const [one, two] = [info('one.qcow2'), info('two.qcow2')];
    expect(JSON.parse(JSON.stringify(one).replaceAll('one.', 'two.'))).toEqual(two);
    expect(qemuEnds('check', '-q', 'one.qcow2').status).toBe(0);
    for (const name of ['one.qcow2', 'two.qcow2', 'one.data', 'two.data'])
      rmSync(path(name), { force: true });
  });

  it.each([
    ['cluster_size=3k'],
    ['cluster_size=4M'],
    ['cluster_size=256'],
    ['refcount_bits=3'],
    ['refcount_bits=128'],
    ['compat=0.10,refcount_bits=8'],
    ['compat=0.10,lazy_refcounts=on'],
    ['compat=0.10,extended_l2=on'],
    ['compat=0.10,compression_type=zstd'],
    ['compat=0.10,data_file=x.data'],
    ['extended_l2=on,cluster_size=8k'],
    ['data_file_raw=on'],
    ['data_file=x.data,backing_file=base.raw,backing_fmt=raw,data_file_raw=on'],
    ['backing_file=base.raw'],
    ['backing_file=none.raw,backing_fmt=raw'],
    ['preallocation=some'],
    ['nonsense=1'],
    ['compression_type=lzo'],
  ])('create -o %s is refused, as by qemu-img', async (options) => {
    const argv = ['create', '-q', '-f', 'qcow2', '-o', options, 'no.qcow2', '5M'];
    expect(qemuEnds(...argv).status).not.toBe(0);
    for (const name of ['no.qcow2', 'x.data']) rmSync(path(name), { force: true });
    const { code, out } = await ours(...argv);
    expect([code === 1 || code === 2, out]).toEqual([true, '']);
    expect(() => readFileSync(path('no.qcow2'))).toThrow(/ENOENT/);
  });

  describe('measure', () => {
    beforeAll(() => {
      qemu('create', '-q', '-f', 'qcow2', '-b', 'base.raw', '-F', 'raw', 'measured.qcow2', '12M');
      execFileSync('qemu-io', [
        '-f',
        'qcow2',
        '-c',
        'write 5M 100k',
        '-c',
        'write -z 0 64k',
        path('measured.qcow2'),
      ]);
      qemu('bitmap', '--add', 'measured.qcow2', 'b');
      qemu('snapshot', '-c', 'one', 'measured.qcow2');
      execFileSync('qemu-io', ['-f', 'qcow2', '-c', 'write 7M 1M', path('measured.qcow2')]);
    });

    it.each([
      ['-O', 'qcow2', '-f', 'raw', 'base.raw'],
      ['-O', 'qcow2', 'base.qcow2'],
      ['-O', 'qcow2', 'measured.qcow2'],
      ['-O', 'qcow2', '-o', 'cluster_size=4k,refcount_bits=64', 'measured.qcow2'],
      ['-O', 'qcow2', '-o', 'extended_l2=on', 'base.qcow2'],
      ['-O', 'qcow2', '-o', 'preallocation=metadata', 'base.qcow2'],
      ['-O', 'qcow2', '-o', 'preallocation=full', 'base.qcow2'],
      ['-O', 'qcow2', '--size', '0'],
      ['-O', 'qcow2', '--size', '1'],
      ['-O', 'qcow2', '--size', '2T'],
      ['-O', 'qcow2', '-o', 'cluster_size=2M', '--size', '1P'],
      ['-O', 'qcow2', '-o', 'cluster_size=512,refcount_bits=1', '--size', '1G'],
      ['-O', 'raw', 'measured.qcow2'],
    ])('%s %s %s %s %s tells the same sizes', async (...argv) => {
      const words = ['measure', '--output=json', ...argv.filter((word) => word !== undefined)];
      const { out, err } = await ours(...words);
      expect(err).toBe('');
      const { data, ...sizes } = JSON.parse(out);
      void data;
      expect(sizes).toEqual(JSON.parse(qemu(...words)));
    });
  });

  it('lists the snapshots that qemu-img took as it lists them, and the other way', async () => {
    qemu('create', '-q', '-f', 'qcow2', 'snap.qcow2', '5M');
    qemu('snapshot', '-c', 'theirs', 'snap.qcow2');
    await ours('snapshot', '-q', '-c', 'ours', 'snap.qcow2');
    const listed = JSON.parse((await ours('snapshot', '-l', '--json', 'snap.qcow2')).out);
    const told = info('snap.qcow2').snapshots as object[];
    expect(listed).toMatchObject(told);
    expect(listed).toHaveLength(2);
  });

  it('changes what amend changes', async () => {
    const make = (name: string) => qemu('create', '-q', '-f', 'qcow2', '-o', 'compat=0.10', name, '5M');
    for (const name of ['a1.qcow2', 'a2.qcow2']) make(name);
    for (const options of [
      'compat=1.1',
      'refcount_bits=1',
      'refcount_bits=16,lazy_refcounts=on',
      'lazy_refcounts=off',
      'compat=0.10',
    ]) {
      expect(await ours('amend', '-q', '-o', options, 'a1.qcow2')).toMatchObject({ code: 0, err: '' });
      qemu('amend', '-q', '-o', options, 'a2.qcow2');
      expect(info('a1.qcow2')).toEqual(info('a2.qcow2'));
    }
    for (const options of ['cluster_size=4k', 'compat=0.10,lazy_refcounts=on', 'refcount_bits=9'])
      expect([
        (await ours('amend', '-o', options, 'a1.qcow2')).code > 0,
        qemuEnds('amend', '-o', options, 'a2.qcow2').status,
      ]).toEqual([true, 1]);
  });

  describe('check', () => {
    /** Damage, to the bytes of an image with data, a snapshot and 64 KiB clusters. */
    const damages: Record<string, (bytes: Buffer) => Buffer> = {
      none: (bytes) => bytes,
      'a leaked cluster at the end': (bytes) => {
        const longer = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 65_535), Buffer.alloc(65_536)]);
        setCount(longer, longer.length / 65_536 - 1, () => 1);
        return longer;
      },
      'a count too high': (bytes) => setCount(bytes, dataCluster(bytes), (count) => count + 1),
      'a count too low': (bytes) => setCount(bytes, dataCluster(bytes), (count) => count - 1),
      'no counts at all': (bytes) => {
        bytes.fill(0, refcountBlock(bytes), refcountBlock(bytes) + 65_536);
        return bytes;
      },
      'an entry that leads outside': (bytes) => {
        const l2 = Number(bytes.readBigUInt64BE(Number(bytes.readBigUInt64BE(40))) & 0x00ff_ffff_ffff_fe00n);
        bytes.writeBigUInt64BE(0x8000_0000_7fff_0000n, l2 + 8 * 4);
        return bytes;
      },
    };
    const refcountBlock = (bytes: Buffer) => Number(bytes.readBigUInt64BE(Number(bytes.readBigUInt64BE(48))));
    const dataCluster = (bytes: Buffer) => {
      const l2 = Number(bytes.readBigUInt64BE(Number(bytes.readBigUInt64BE(40))) & 0x00ff_ffff_ffff_fe00n);
      return Number(bytes.readBigUInt64BE(l2) & 0x00ff_ffff_ffff_fe00n) / 65_536;
    };
    function setCount(bytes: Buffer, cluster: number, to: (count: number) => number): Buffer {
      const at = refcountBlock(bytes) + cluster * 2;
      bytes.writeUInt16BE(to(bytes.readUInt16BE(at)), at);
      return bytes;
    }
    const numbers = (text: string) => {
      const { filename, findings, ...rest } = JSON.parse(text);
      void filename;
      void findings;
      return rest;
    };

    it.each(Object.keys(damages))('ends and counts as qemu-img does: %s', async (what) => {
      rmSync(path('damaged.qcow2'), { force: true });
      qemu('create', '-q', '-f', 'qcow2', 'damaged.qcow2', '5M');
      execFileSync('qemu-io', ['-f', 'qcow2', '-c', 'write -P 5 0 1M', path('damaged.qcow2')]);
      writeFileSync(path('damaged.qcow2'), damages[what]?.(readFileSync(path('damaged.qcow2'))) as Buffer);
      expect(header(path('damaged.qcow2')).clusterSize).toBe(65_536);
      copyFileSync(path('damaged.qcow2'), path('other.qcow2'));
      const { code, out } = await ours('check', '--output=json', 'damaged.qcow2');
      const theirs = qemuEnds('check', '--output=json', 'other.qcow2');
      expect(code).toBe(theirs.status);
      expect(numbers(out)).toEqual(numbers(theirs.stdout));
      const repaired = await ours('check', '-q', '-r', 'all', 'damaged.qcow2');
      const theirRepair = qemuEnds('check', '-q', '-r', 'all', 'other.qcow2');
      expect(repaired.code).toBe(theirRepair.status);
      expect(qemuEnds('check', '-q', 'damaged.qcow2').status).toBe(
        qemuEnds('check', '-q', 'other.qcow2').status,
      );
      expect((await ours('check', '-q', 'other.qcow2')).code).toBe(
        (await ours('check', '-q', 'damaged.qcow2')).code,
      );
    });

    it.each([
      ['check', 'none.qcow2'],
      ['check', '-f', 'raw', 'base.raw'],
      ['check', '-r', 'some', 'base.qcow2'],
      ['check'],
      ['snapshot', '-a', 'none', 'base.qcow2'],
      ['commit', 'base.qcow2'],
      ['resize', 'base.qcow2', '-1M'],
      ['rebase', '-b', 'none.raw', '-F', 'raw', 'base.qcow2'],
      ['bitmap', '--remove', 'base.qcow2', 'none'],
    ])('%s %s %s ends with the same code', async (...argv) => {
      const words = argv.filter((word) => word !== undefined);
      expect((await ours(...words)).code).toBe(qemuEnds(...words).status);
    });
  });
});
