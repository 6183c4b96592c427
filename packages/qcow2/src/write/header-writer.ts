import { alignUp, type BlockNode } from '@blockyard/core';
import { unsupported } from '../failure.ts';
import { parseHeader, type Qcow2Header } from '../header.ts';
import {
  type EncodedHeader,
  encodeHeader,
  type HeaderShape,
  shapeHeader,
  tooLarge,
} from './header-encoder.ts';

/** Bytes of which a disk writes all or none. */
const sectorBytes = 512;

/**
 * Puts a header in the place of the one that is there: at every instant either the old or the new one can be read
 * whole, since the new one's bytes past the first sector go where the old one has none, and the first sector decides.
 * Everything written before is durable before, and the header when it resolves.
 */
export async function writeHeader(file: BlockNode, to: Qcow2Header): Promise<void> {
  await file.flush();
  const head = new Uint8Array(Math.min(file.size, to.clusterSize));
  await file.read(0, head);
  for (const next of way(file, head, to)) await goTo(file, head, next);
}

/** Writes the header of a new image, after everything else of it is durable: until then the file is none. */
export async function writeFirstHeader(file: BlockNode, header: Qcow2Header): Promise<void> {
  await file.flush();
  const bytes = encodeHeader(header, file);
  const rest = bytes.subarray(sectorBytes);
  if (rest.length > 0) {
    await file.write(sectorBytes, rest);
    await file.flush();
  }
  await file.write(0, bytes.subarray(0, sectorBytes));
  await file.flush();
}

type Range = readonly [start: number, end: number];

const rangesOf = (header: Omit<EncodedHeader, 'bytes'>): Range[] => [
  [sectorBytes, header.extensionsEnd],
  [Math.max(sectorBytes, header.nameOffset), header.nameOffset + header.nameLength],
];

/** Where the header that is in `head` has its parts. */
function placesIn(head: Uint8Array, file: BlockNode): Omit<EncodedHeader, 'bytes'> {
  const header = parseHeader(head, file);
  const last = header.extensions.at(-1);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return {
    extensionsEnd: 8 + (last ? last.offset + alignUp(last.data.length, 8) : header.headerLength),
    nameOffset: Number(view.getBigUint64(8)),
    nameLength: view.getUint32(16),
  };
}

/** The headers to go through: the last is `to`; one without names of features may have to come before it. */
function way(file: BlockNode, head: Uint8Array, to: Qcow2Header): EncodedHeader[] {
  const old = placesIn(head, file);
  const whole = place(head, old, to, true);
  if (whole) return [whole];
  const bare = place(head, old, to, false);
  if (!bare) {
    if (!shapeHeader(to, { featureNames: false })) throw tooLarge(to, file);
    throw unsupported(
      file,
      `its header extensions are so long that the header cannot be changed without the risk of losing it when the power fails meanwhile; convert the image instead`,
    );
  }
  const between = new Uint8Array(head.length);
  between.set(head);
  between.set(bare.bytes.subarray(0, sectorBytes));
  for (const [start, end] of rangesOf(bare))
    if (start < end) between.set(bare.bytes.subarray(start, end), start);
  const after = place(between, bare, to, true);
  return after ? [bare, after] : [bare];
}

/** A shape of the new header that leaves what the old one needs past the first sector as it is. */
function place(
  head: Uint8Array,
  old: Omit<EncodedHeader, 'bytes'>,
  to: Qcow2Header,
  featureNames: boolean,
): EncodedHeader | undefined {
  // The table of names may come later: the name is best kept out of its way.
  const end = Math.max(
    ...[true, false].map((all) => shapeHeader(unnamed(to), { featureNames: all })?.extensionsEnd ?? 0),
  );
  const oldNameEnd = alignUp(old.nameOffset + old.nameLength, 8);
  const free = Math.max(end, old.extensionsEnd);
  const offsets = [old.nameOffset, end, free, Math.max(free, oldNameEnd), undefined];
  for (const nameOffset of offsets) {
    const shape: HeaderShape = { featureNames, nameOffset };
    const next = shapeHeader(to, shape);
    if (next && !collides(head, old, next)) return next;
  }
  return undefined;
}

const unnamed = (header: Qcow2Header): Qcow2Header => ({ ...header, backingFile: header.backingFile && '.' });

/** Whether a byte that the old header needs would become another. */
function collides(head: Uint8Array, old: Omit<EncodedHeader, 'bytes'>, next: EncodedHeader): boolean {
  for (const [start, end] of rangesOf(next)) {
    for (const [from, to] of rangesOf(old)) {
      for (let at = Math.max(start, from); at < Math.min(end, to); at++)
        if (head[at] !== next.bytes[at]) return true;
    }
  }
  return false;
}

/** Writes what of the header is not there yet, the first sector last; `head` becomes what is there. */
async function goTo(file: BlockNode, head: Uint8Array, next: EncodedHeader): Promise<void> {
  let wrote = false;
  for (const [start, end] of rangesOf(next)) {
    const bytes = next.bytes.subarray(start, end);
    if (bytes.every((byte, i) => byte === head[start + i])) continue;
    await file.write(start, bytes);
    head.set(bytes, start);
    wrote = true;
  }
  if (wrote) await file.flush();
  const sector = new Uint8Array(sectorBytes);
  sector.set(next.bytes.subarray(0, sectorBytes));
  if (sector.every((byte, i) => byte === head[i])) return;
  await file.write(0, sector);
  head.set(sector);
  await file.flush();
}
