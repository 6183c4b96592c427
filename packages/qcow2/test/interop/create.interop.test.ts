import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Qcow2CreateOptions } from '../../src/create/options.ts';
import { interop, joined, Workspace } from './qemu.ts';

interface Wanted extends Qcow2CreateOptions {
  size: number;
  preallocation?: 'off' | 'metadata' | 'falloc' | 'full';
}

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const TiB = 2 ** 40;
const backing = { backingFile: 'base.raw', backingFormat: 'raw' };

const qemuNames: Record<string, string> = { backingFormat: 'backing_fmt', extendedL2: 'extended_l2' };
const qemuName = (name: string) =>
  qemuNames[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const qemuValue = (value: unknown) => (value === true ? 'on' : value === false ? 'off' : String(value));
const qemuOptions = (options: object): string =>
  Object.entries(options)
    .map(([name, value]) => `${qemuName(name)}=${qemuValue(value)}`)
    .join(',');

const cases: Wanted[] = [
  { size: 0 },
  { size: 512 },
  { size: 5 * MiB },
  { size: GiB, compat: '0.10' },
  { size: GiB, compat: 'v2', ...backing },
  { size: GiB, compat: 'v3' },
  { size: 16 * TiB },
  { size: 64 * TiB, clusterSize: 2 * MiB },
  ...[512, 1024, 4096, 16384, 2 * MiB].flatMap((clusterSize) => [
    { size: 0, clusterSize },
    { size: 5 * MiB + 512, clusterSize },
    { size: GiB, clusterSize },
  ]),
  ...[1, 2, 4, 8, 32, 64].flatMap((refcountBits) => [
    { size: GiB, refcountBits },
    { size: GiB, refcountBits, clusterSize: 512 },
  ]),
  { size: GiB, lazyRefcounts: true },
  { size: GiB, lazyRefcounts: true, refcountBits: 1, ...backing },
  { size: GiB, ...backing },
  { size: GiB, backingFile: 'base.qcow2', backingFormat: 'qcow2', compressionType: 'zstd' },
  { size: GiB, extendedL2: true },
  { size: GiB, extendedL2: true, clusterSize: 16384, ...backing },
  { size: GiB, extendedL2: true, compressionType: 'zstd', lazyRefcounts: true, refcountBits: 64 },
  { size: GiB, dataFile: 'ext.raw' },
  { size: GiB, dataFile: 'ext.raw', compressionType: 'zstd' },
  { size: GiB, dataFile: 'ext.raw', ...backing },
  { size: GiB, dataFile: 'ext.raw', clusterSize: 512 },
];

const preallocated: Wanted[] = [
  ...(['metadata', 'falloc', 'full'] as const).flatMap((preallocation) => [
    { size: 5 * MiB, preallocation },
    { size: 9 * MiB + 512, preallocation, clusterSize: 4096 },
    { size: 3 * MiB, preallocation, clusterSize: 512, refcountBits: 64 },
    { size: 3 * MiB, preallocation, clusterSize: 512, refcountBits: 1 },
    { size: 5 * MiB, preallocation, extendedL2: true },
    { size: 5 * MiB, preallocation, extendedL2: true, ...backing },
    { size: 5 * MiB, preallocation, compat: '0.10' as const },
    { size: 5 * MiB, preallocation, dataFile: 'ext.raw' },
    { size: 5 * MiB, preallocation, dataFile: 'ext.raw', dataFileRaw: true },
  ]),
  { size: 5 * MiB, dataFile: 'ext.raw', dataFileRaw: true },
  { size: 5 * MiB, dataFile: 'ext.raw', dataFileRaw: true, extendedL2: true },
];

interop('creating', () => {
  const space = new Workspace();
  writeFileSync(space.path('base.raw'), new Uint8Array(6 * MiB).fill(0x5a));
  space.create('base.qcow2', 6 * MiB, '');

  const told = (name: string) => {
    const {
      filename: _filename,
      children: _children,
      'actual-size': _size,
      ...info
    } = JSON.parse(space.img('info', '--output=json', name));
    return info;
  };
  const makeBoth = async ({ size, ...options }: Wanted) => {
    space.create('theirs.qcow2', size, qemuOptions(options));
    await space.registry.create(space.path('ours.qcow2'), {
      format: 'qcow2',
      size,
      overwrite: true,
      ...options,
    });
    space.img('check', '-q', 'ours.qcow2');
    expect(told('ours.qcow2')).toEqual(told('theirs.qcow2'));
  };
  const bytes = (name: string) => statSync(space.path(name)).size;

  it.each(cases)('makes the image that qemu-img makes: %o', async (wanted) => {
    await makeBoth(wanted);
    // QEMU leaves clusters free where its table of refcounts grew.
    const grew = (wanted.refcountBits ?? 16) > 1 && wanted.clusterSize === 512 && wanted.size === GiB;
    if (grew) expect(bytes('ours.qcow2')).toBeLessThanOrEqual(bytes('theirs.qcow2'));
    else expect(bytes('ours.qcow2')).toBe(bytes('theirs.qcow2'));
    if (wanted.dataFile) expect(bytes('ext.raw')).toBe(wanted.size);
    if (wanted.size > 0 && wanted.size < TiB)
      space.io('ours.qcow2', ['write -P 7 0 300k', 'read -P 7 0 300k'].slice(0, wanted.size < MiB ? 0 : 2));
    space.img('check', '-q', 'ours.qcow2');
  });

  it.each(preallocated)('provides space as qemu-img does: %o', async (wanted) => {
    await makeBoth(wanted);
    // What is zero QEMU finds out from the holes of the file.
    const plain = (name: string) =>
      joined(space.map(name).map(({ offset, zero, ...rest }) => ({ ...rest, zero: false })));
    // QEMU's own says of a raw data file that none of it is there.
    if (!(wanted.dataFileRaw && wanted.extendedL2))
      expect(plain('ours.qcow2')).toEqual(plain('theirs.qcow2'));
    const blocks = statSync(space.path(wanted.dataFile ?? 'ours.qcow2')).blocks * 512;
    const reserved = wanted.preallocation === 'falloc' || wanted.preallocation === 'full';
    expect(blocks >= wanted.size).toBe(reserved);
    space.img('convert', '-O', 'raw', 'ours.qcow2', 'out.raw');
    const shown = wanted.backingFile ? 0x5a : 0;
    expect(readFileSync(space.path('out.raw')).every((byte) => byte === shown)).toBe(true);
    space.io('ours.qcow2', ['write -P 7 100k 300k', 'read -P 7 100k 300k']);
    space.img('check', '-q', 'ours.qcow2');
  });

  it('refuses what qemu-img refuses', async () => {
    const refused: Wanted[] = [
      { size: MiB, compat: '0.10', lazyRefcounts: true },
      { size: MiB, compat: '0.10', refcountBits: 8 },
      { size: MiB, compat: '0.10', extendedL2: true },
      { size: MiB, compat: '0.10', dataFile: 'ext.raw' },
      { size: MiB, compat: '0.10', compressionType: 'zstd' },
      { size: MiB, dataFileRaw: true },
      { size: MiB, dataFile: 'ext.raw', dataFileRaw: true, ...backing },
      { size: MiB, dataFile: '' },
      ...[0, 3072, 256, 4 * MiB].map((clusterSize) => ({ size: MiB, clusterSize })),
      ...[0, 3, 128].map((refcountBits) => ({ size: MiB, refcountBits })),
      { size: MiB, extendedL2: true, clusterSize: 8192 },
      { size: MiB, backingFile: 'base.raw' },
      { size: MiB, backingFile: '', backingFormat: 'raw' },
      { size: MiB, backingFormat: 'raw' },
      ...(['metadata', 'falloc', 'full'] as const).map((preallocation) => ({
        size: MiB,
        preallocation,
        ...backing,
      })),
      { size: 129 * GiB, clusterSize: 512 },
      { size: 1025 * TiB, extendedL2: true },
      { size: 2049 * TiB },
    ];
    for (const { size, ...options } of refused) {
      const theirs = [
        'create',
        '-q',
        '-f',
        'qcow2',
        '-o',
        qemuOptions(options),
        'theirs.qcow2',
        String(size),
      ];
      expect(spawnSync('qemu-img', theirs, { cwd: space.directory }).status).toBe(1);
      const creation = { format: 'qcow2', size, ...options };
      const making = space.registry.create(space.path('refused.qcow2'), creation);
      await expect(making, JSON.stringify(creation)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
      expect(() => statSync(space.path('refused.qcow2'))).toThrow(/ENOENT/);
    }
  });
});
