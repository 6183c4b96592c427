import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../src/exit.ts';
import { nearest } from '../src/nearest.ts';
import { parseImage } from '../src/open/argument.ts';
import { snapshotName } from '../src/open/source.ts';
import { splitPairs, treeFromPairs } from '../src/options/key-value.ts';
import { parseCount, parseSize } from '../src/options/size.ts';
import { formatBytes, formatDuration } from '../src/output/bytes.ts';
import { shownPath } from '../src/output/shown.ts';
import { cliRegistry } from '../src/registry.ts';
import { inOurWords } from '../src/words.ts';

const registry = cliRegistry();

describe('sizes', () => {
  it.each([
    ['0', 0],
    ['512', 512],
    ['4k', 4096],
    ['4K', 4096],
    ['1.5M', 1572864],
    ['10G', 10737418240],
    ['2T', 2199023255552],
    ['1P', 1125899906842624],
    ['64KiB', 65536],
    ['7b', 7],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSize(text, 'x')).toBe(bytes);
  });
  it.each(['', '-1', '1.5', '0.3k', 'k', '4x', '1e3', '0x10', '9E', '4 4'])('%s is refused', (text) => {
    expect(() => parseSize(text, 'x')).toThrow(UsageError);
  });
  it('are shown in short', () => {
    expect([0, 1, 999, 1000, 1024, 1536, 1048576, 1e12].map(formatBytes)).toEqual([
      '0 B',
      '1 B',
      '999 B',
      '0.98 KiB',
      '1 KiB',
      '1.5 KiB',
      '1 MiB',
      '931 GiB',
    ]);
    expect([0, 5, 65, 3600, 86399.6].map(formatDuration)).toEqual([
      '0:00',
      '0:05',
      '1:05',
      '1:00:00',
      '24:00:00',
    ]);
  });
  it('and counts have bounds', () => {
    expect(parseCount('16', '-m', 1, 128)).toBe(16);
    for (const text of ['0', '129', '1.5', '-1', 'x', ''])
      expect(() => parseCount(text, '-m', 1, 128)).toThrow(/-m.*1 to 128/);
  });
});

describe('key=value', () => {
  it('makes a tree with the types of the drivers', () => {
    const pairs = splitPairs(
      'driver=qcow2,file.driver=file,file.filename=a,,b=c.qcow2,file.cache.no-flush=on,read-only=yes,cacheSize=1M,backing=null',
    );
    expect(treeFromPairs(pairs, registry)).toEqual({
      driver: 'qcow2',
      file: { driver: 'file', filename: 'a,b=c.qcow2', cache: { noFlush: true } },
      readOnly: true,
      cacheSize: 1048576,
      backing: null,
    });
  });
  it('takes the driver of a child from its file name, where none is said', () => {
    expect(
      treeFromPairs(splitPairs('driver=qcow2,file.filename=a.qcow2,file.aio=threads'), registry),
    ).toEqual({
      driver: 'qcow2',
      file: { driver: 'file', filename: 'a.qcow2', aio: 'threads' },
    });
  });

  it('types the file of an image whose driver is not said', () => {
    expect(treeFromPairs(splitPairs('file.filename=a.img,file.offset=1k'), registry)).toEqual({
      file: { driver: 'file', filename: 'a.img', offset: 1024 },
    });
  });

  it('takes a name for a node, and a key alone for on', () => {
    expect(treeFromPairs(splitPairs('driver=raw,file=disk.img,readOnly'), registry)).toEqual({
      driver: 'raw',
      file: { driver: 'file', filename: 'disk.img' },
      readOnly: true,
    });
  });
  it.each([
    'file=a,file.driver=file',
    'file.driver=file,file=a',
    '__proto__.x=1',
    '.=1',
    'driver=raw,readOnly=maybe',
    'driver=raw,offset=x',
  ])('refuses %s', (text) => {
    expect(() => treeFromPairs(splitPairs(text), registry)).toThrow(UsageError);
  });
});

describe('words', () => {
  it.each([
    ['x; add cache.direct: true, or use', 'x; add -T none (of a target: -t none), or use'],
    ['or probe: true to guess it', 'or leave out -f to have it guessed'],
    [
      "allow it with the references policy ('same-directory', or a function), or give backing explicitly",
      'allow it with --references allow, or give the chain as a graph',
    ],
    ['give the format raw to use its bytes', 'say -f raw to use its bytes'],
    ['with forceShare: true (what', 'with -U (what'],
    ['close it there, or open it with readOnly: true', 'close it there'],
    ['denied; open it with readOnly: true, or ask for', 'denied; ask for'],
    ['dataFileRaw and backingFile: choose one', 'data_file_raw and backing_file: choose one'],
    ['clusterSize is 3', 'cluster_size is 3'],
  ])('%s', (said, here) => expect(inOurWords(said)).toBe(here));
});

describe('the nearest word', () => {
  const known = ['cluster_size', 'compat', 'data_file', 'size'];
  it.each([
    ['clustersize', 'cluster_size'],
    ['comapt', 'compat'],
    ['data-file', 'data_file'],
    ['sise', 'size'],
    ['preallocation', undefined],
    ['x', undefined],
  ])('to %s is %s', (word, meant) => expect(nearest(word, known)).toBe(meant));
});

describe('a path is shown from where the name starts', () => {
  it.each([
    ['base', 'top', 'base'],
    ['d/base', 'd/top', 'd/base'],
    ['d/base', './d/top', 'd/base'],
    ['../base', 'top', undefined],
  ])('%s beside %s', (path, typed, shown) =>
    expect(shownPath(resolve(path), typed)).toBe(shown ?? resolve(path)),
  );
  it('stays absolute where the name is', () => {
    expect(shownPath('/d/base', '/d/top')).toBe('/d/base');
    expect(shownPath(resolve('a'), '{"driver":"raw"}')).toBe(resolve('a'));
  });
});

describe('an image argument', () => {
  it.each(['a.raw', 'with space', 'ünï☃', '-dash', 'C:x:y', 'json', 'a{b', 'file'])(
    '%s is a name',
    (text) => {
      expect(parseImage(text, registry)).toEqual({ kind: 'name', text });
    },
  );
  it('can be a stream or a graph', () => {
    expect(parseImage('-', registry).kind).toBe('stream');
    const tree = { driver: 'null', size: 5 };
    for (const text of [JSON.stringify(tree), `json:${JSON.stringify(tree)}`])
      expect(parseImage(text, registry)).toMatchObject({ kind: 'tree', tree });
    expect(parseImage('driver=null,size=5', registry, true)).toMatchObject({ kind: 'tree', tree });
  });
  it.each(['', '{', '{}', '{"file":3}', 'json:[]', 'json:nope', 'a\0b'])('%j is refused', (text) => {
    expect(() => parseImage(text, registry)).toThrow(UsageError);
  });
  it('names snapshots as qemu-img does', () => {
    expect(['one', 'snapshot.id=1', 'snapshot.name=a=b'].map(snapshotName)).toEqual(['one', '1', 'a=b']);
  });
});
