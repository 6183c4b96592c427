import { Encoder } from './encode.ts';

/** What a made image's header says; what is left out is as a small ordinary image has it. */
export interface HeaderOptions {
  version?: 2 | 3;
  clusterBits?: number;
  size?: number;
  refcountOrder?: number;
  extendedL2?: boolean;
  compressionType?: number;
  cryptMethod?: number;
  /** Added to the bits that other options need. */
  incompatible?: bigint;
  compatible?: bigint;
  autoclear?: bigint;
  backingFile?: string;
  backingFormat?: string;
  /** Name of an external data file; '' for one that the image does not name. */
  dataFile?: string;
  rawDataFile?: boolean;
  extensions?: readonly { type: number; data: Uint8Array }[];
  headerLength?: number;
}

export interface HeaderPlaces {
  l1Size: number;
  l1Offset: number;
  refcountTableOffset: number;
  refcountTableClusters: number;
  snapshotCount: number;
  snapshotsOffset: number;
  extensions: readonly { type: number; data: Uint8Array }[];
}

export function encodeHeader(options: HeaderOptions, places: HeaderPlaces): Uint8Array {
  const { version = 3, headerLength = version === 2 ? 72 : 112, backingFile } = options;
  const extensions = [...places.extensions, ...(options.extensions ?? [])];
  const utf8 = new TextEncoder();
  if (options.backingFormat) extensions.push({ type: 0xe2792aca, data: utf8.encode(options.backingFormat) });
  if (options.dataFile) extensions.push({ type: 0x44415441, data: utf8.encode(options.dataFile) });
  const tail = new Encoder();
  for (const { type, data } of extensions) tail.u32(type).u32(data.length).bytes(data).pad(8);
  tail.u64(0);
  const name = utf8.encode(backingFile ?? '');
  const nameOffset = headerLength + tail.length;
  const head = new Encoder()
    .u32(0x514649fb)
    .u32(version)
    .u64(backingFile === undefined ? 0 : nameOffset)
    .u32(name.length)
    .u32(options.clusterBits ?? 16)
    .u64(options.size ?? 0)
    .u32(options.cryptMethod ?? 0)
    .u32(places.l1Size)
    .u64(places.l1Offset)
    .u64(places.refcountTableOffset)
    .u32(places.refcountTableClusters)
    .u32(places.snapshotCount)
    .u64(places.snapshotsOffset);
  if (version === 3) {
    const incompatible =
      (options.incompatible ?? 0n) |
      (options.dataFile === undefined ? 0n : 4n) |
      (options.compressionType ? 8n : 0n) |
      (options.extendedL2 ? 16n : 0n);
    const autoclear = (options.autoclear ?? 0n) | (options.rawDataFile ? 2n : 0n);
    head
      .u64(incompatible)
      .u64(options.compatible ?? 0n)
      .u64(autoclear)
      .u32(options.refcountOrder ?? 4)
      .u32(headerLength);
    head.u8(options.compressionType ?? 0);
  }
  const fixed = new Uint8Array(headerLength);
  fixed.set(head.done().subarray(0, headerLength));
  return new Encoder().bytes(fixed).bytes(tail.done()).bytes(name).done();
}
