/** What a decoder must know of a zstd frame before it is given one: RFC 8878, section 3.1. */
export interface ZstdFrame {
  /** Bytes of the frame itself, without what follows it. */
  length: number;
  /** Bytes that it says it decodes to; undefined where it does not say, Infinity above 2^53. */
  contentSize: number | undefined;
}

const dictionaryBytes = [0, 1, 2, 4] as const;

/** Finds the end of the frame at the start of `bytes`; undefined when there is no whole one. */
export function zstdFrame(bytes: Uint8Array): ZstdFrame | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 6 || view.getUint32(0, true) !== 0xfd2fb528) return undefined;
  const descriptor = view.getUint8(4);
  const single = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 ? (single ? 1 : 0) : 1 << sizeFlag;
  const sizeAt = 5 + (single ? 0 : 1) + (dictionaryBytes[descriptor & 3] as number);
  let at = sizeAt + sizeBytes;
  if (at > bytes.length) return undefined;
  const contentSize = readSize(view, sizeAt, sizeBytes);
  for (let last = false; !last; ) {
    if (at + 3 > bytes.length) return undefined;
    const block = view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
    const type = (block >>> 1) & 3;
    if (type === 3) return undefined;
    last = (block & 1) !== 0;
    at += 3 + (type === 1 ? 1 : block >>> 3);
  }
  if (descriptor & 4) at += 4;
  return at > bytes.length ? undefined : { length: at, contentSize };
}

function readSize(view: DataView, at: number, bytes: number): number | undefined {
  switch (bytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    case 8: {
      const high = view.getUint32(at + 4, true);
      return high >= 2 ** 21 ? Number.POSITIVE_INFINITY : high * 2 ** 32 + view.getUint32(at, true);
    }
    default:
      return undefined;
  }
}
