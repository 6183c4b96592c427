/** "Refcount blocks": how numbers of one width lie in a block. Below a byte, the lowest bits come first. */
export interface RefcountCodec {
  /** Largest count that fits, and that is held exactly. */
  readonly max: number;
  get(view: DataView, index: number): number;
  set(view: DataView, index: number, value: number): void;
}

const high = 2 ** 32;

const narrow = (bits: number): RefcountCodec => {
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return {
    max: mask,
    get: (view, index) => (view.getUint8(Math.floor(index / perByte)) >>> ((index % perByte) * bits)) & mask,
    set(view, index, value) {
      const at = Math.floor(index / perByte);
      const shift = (index % perByte) * bits;
      view.setUint8(at, (view.getUint8(at) & ~(mask << shift)) | (value << shift));
    },
  };
};

const codecs: Record<number, RefcountCodec> = {
  1: narrow(1),
  2: narrow(2),
  4: narrow(4),
  8: { max: 0xff, get: (view, i) => view.getUint8(i), set: (view, i, value) => view.setUint8(i, value) },
  16: {
    max: 0xffff,
    get: (view, i) => view.getUint16(i * 2),
    set: (view, i, value) => view.setUint16(i * 2, value),
  },
  32: {
    max: 0xffffffff,
    get: (view, i) => view.getUint32(i * 4),
    set: (view, i, value) => view.setUint32(i * 4, value),
  },
  64: {
    max: Number.MAX_SAFE_INTEGER,
    get: (view, i) => view.getUint32(i * 8) * high + view.getUint32(i * 8 + 4),
    set(view, i, value) {
      view.setUint32(i * 8, Math.floor(value / high));
      view.setUint32(i * 8 + 4, value % high);
    },
  },
};

export const refcountCodec = (bits: number): RefcountCodec => codecs[bits] as RefcountCodec;
