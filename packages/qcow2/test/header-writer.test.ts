import { describe, expect, it } from 'vitest';
import { parseHeader, type Qcow2Header } from '../src/index.ts';
import { encodeHeader } from '../src/write/header-encoder.ts';
import { withFlags } from '../src/write/header-flags.ts';
import { writeHeader } from '../src/write/header-writer.ts';
import { type HeaderOptions, encodeHeader as theirHeader } from './support/image-header.ts';
import { contentOf, journaled, powerCuts } from './support/journal.ts';

const places = {
  l1Size: 1,
  l1Offset: 3 << 16,
  refcountTableOffset: 1 << 16,
  refcountTableClusters: 1,
  snapshotCount: 0,
  snapshotsOffset: 0,
  extensions: [],
};
const bitmaps = { type: 0x23852875, data: new Uint8Array(24).fill(7) };
const unknown = { type: 0x12345678, data: Uint8Array.of(1, 2, 3) };
const names = { type: 0x6803f857, data: new Uint8Array(384).fill(0x41) };

/** The first cluster of an image as another program may have written it. */
function cluster(options: HeaderOptions): Uint8Array {
  const bytes = new Uint8Array(2 ** (options.clusterBits ?? 16));
  bytes.set(theirHeader({ size: 1 << 20, ...options }, places));
  return bytes;
}

/** All that matters of a header, but for where in the file it is. */
function meaning(header: Qcow2Header) {
  const { extensions, featureNames: _names, headerLength: _length, ...fields } = header;
  const derived = [0xe2792aca, 0x44415441, 0x6803f857];
  const kept = extensions.filter(({ type }) => !derived.includes(type));
  const sorted = kept.map(({ type, data }) => ({ type, data })).sort((a, b) => a.type - b.type);
  return { ...fields, extensions: sorted };
}

type Change = (header: Qcow2Header) => Partial<Qcow2Header>;
const starts: Record<string, HeaderOptions> = {
  plain: {},
  'version 2': { version: 2 },
  'version 2 with a backing file': { version: 2, backingFile: 'old.qcow2', backingFormat: 'qcow2' },
  'QEMU, with a backing file': {
    backingFile: 'a/rather/long/name/of/a/backing/file.qcow2',
    backingFormat: 'qcow2',
    extensions: [names],
  },
  'QEMU, with bitmaps': { extensions: [names, bitmaps], autoclear: 1n },
  'QEMU, with bitmaps and a backing file': {
    extensions: [names, bitmaps],
    autoclear: 1n,
    backingFile: 'old.raw',
    backingFormat: 'raw',
  },
  'a data file': { dataFile: 'disk.raw', rawDataFile: true, extensions: [names] },
  'an unknown extension': { extensions: [unknown, names], backingFile: 'old.raw', backingFormat: 'raw' },
  'clusters of 1 KiB': { clusterBits: 10, backingFile: 'old.raw', backingFormat: 'raw', extensions: [names] },
  'clusters of 512 bytes': { clusterBits: 9, backingFile: 'old.raw', backingFormat: 'raw' },
};
const changes: Record<string, Change> = {
  'the place of a table': () => ({ l1TableOffset: 5 << 16, l1Size: 2, refcountTableOffset: 9 << 16 }),
  'a backing file': () => ({ backingFile: 'new.qcow2', backingFormat: 'qcow2' }),
  'a backing file of a longer name': () => ({ backingFile: 'n'.repeat(200), backingFormat: 'raw' }),
  'no backing file': () => ({ backingFile: undefined, backingFormat: undefined }),
  'new bitmaps': ({ extensions, autoclearFeatures }) => ({
    extensions: [
      ...extensions.filter(({ type }) => type !== bitmaps.type),
      { ...bitmaps, name: 'bitmaps', offset: 0, data: new Uint8Array(24).fill(9) },
    ],
    autoclearFeatures: autoclearFeatures | 1n,
  }),
  'no bitmaps': ({ extensions, autoclearFeatures }) => ({
    extensions: extensions.filter(({ type }) => type !== bitmaps.type),
    autoclearFeatures: autoclearFeatures & ~1n,
  }),
  'a dirty bit': (header) => withFlags(header, { dirty: true }),
};

describe('a header that is changed', () => {
  const cases = Object.keys(starts).flatMap((start) =>
    Object.keys(changes).map((change) => [start, change] as const),
  );

  it.each(cases)('%s: to %s', async (start, change) => {
    const before = cluster(starts[start] as HeaderOptions);
    const from = parseHeader(before);
    if (from.version === 2 && /bitmaps|dirty/.test(change)) return;
    const to = { ...from, ...(changes[change] as Change)(from) };
    const { file, journal } = await journaled(before);
    await writeHeader(file, to);
    const old = meaning(from);
    const wanted = meaning(parseHeader(encodeHeader(to)));
    expect(meaning(parseHeader(await contentOf(file)))).toEqual(wanted);
    for (const torn of powerCuts(before, journal.entries)) {
      const found = meaning(parseHeader(torn));
      if (JSON.stringify(found, bigints) !== JSON.stringify(old, bigints)) expect(found).toEqual(wanted);
    }
    // And once more, over what was written by this package.
    const after = await contentOf(file);
    const { file: again, journal: second } = await journaled(after);
    await writeHeader(again, from);
    for (const torn of powerCuts(after, second.entries)) {
      const found = meaning(parseHeader(torn));
      if (JSON.stringify(found, bigints) !== JSON.stringify(wanted, bigints)) expect(found).toEqual(old);
    }
  });

  it('is one write where only the first sector changes', async () => {
    for (const options of Object.values(starts)) {
      const before = cluster(options);
      const { file } = await journaled(before);
      const from = parseHeader(before);
      await writeHeader(file, from);
      const { file: ours, journal } = await journaled(await contentOf(file));
      await writeHeader(ours, {
        ...from,
        l1TableOffset: 7 << 16,
        snapshotCount: 1,
        snapshotsOffset: 8 << 16,
      });
      expect(journal.entries).toMatchObject(['flush', { offset: 0 }, 'flush']);
      expect((journal.entries[1] as { bytes: Uint8Array }).bytes.length).toBe(512);
    }
  });

  it('keeps fields that are not known here, and names of features', async () => {
    const before = cluster({ headerLength: 128, extensions: [unknown] });
    before.fill(0x77, 112, 128);
    const { file } = await journaled(before);
    await writeHeader(file, { ...parseHeader(before), size: 2 << 20 });
    const after = parseHeader(await contentOf(file));
    expect(after).toMatchObject({
      size: 2 << 20,
      headerLength: 128,
      unknownFields: new Uint8Array(16).fill(0x77),
    });
    expect(after.extensions).toMatchObject([unknown, { name: 'featureNames' }]);
    expect(after.featureNames).toContainEqual({ kind: 'incompatible', bit: 4, name: 'extended L2 entries' });
  });

  it('is refused when it does not fit, or cannot be changed without a risk', async () => {
    const small = parseHeader(cluster({ clusterBits: 9 }));
    const long = { ...small, backingFile: 'n'.repeat(400), backingFormat: 'qcow2' };
    expect(() => encodeHeader(long)).toThrow(/does not fit into the first cluster of 512 bytes/);
    const { file, journal } = await journaled(cluster({ clusterBits: 9 }));
    await expect(writeHeader(file, long)).rejects.toThrow(/does not fit/);
    expect(journal.entries).toEqual(['flush']);

    const before = cluster({ extensions: [{ type: 9, data: new Uint8Array(1000).fill(1) }] });
    const from = parseHeader(before);
    const other = {
      ...from,
      extensions: from.extensions.map((one) => ({ ...one, data: new Uint8Array(1000).fill(2) })),
    };
    const { file: risky } = await journaled(before);
    await expect(writeHeader(risky, other)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_FEATURE' });
    expect(await contentOf(risky)).toEqual(before);
  });

  it('is not written with flags that contradict its feature bits', () => {
    const header = parseHeader(cluster({}));
    expect(() => encodeHeader({ ...header, dirty: true })).toThrow(TypeError);
    expect(parseHeader(encodeHeader({ ...header, ...withFlags(header, { dirty: true }) })).dirty).toBe(true);
  });
});

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
