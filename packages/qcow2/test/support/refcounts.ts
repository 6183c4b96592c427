/** Packs refcounts of `bits` each as the format does: below a byte, the lowest bits first. */
export function packRefcounts(
  counts: ReadonlyMap<number, number>,
  first: number,
  perBlock: number,
  bits: number,
): Uint8Array {
  const block = new Uint8Array((perBlock * bits) / 8);
  const view = new DataView(block.buffer);
  for (let i = 0; i < perBlock; i++) {
    const count = counts.get(first + i) ?? 0;
    if (count === 0) continue;
    if (bits < 8) {
      const at = Math.floor((i * bits) / 8);
      block[at] = (block[at] as number) | (count << ((i * bits) % 8));
    } else if (bits === 8) block[i] = count;
    else if (bits === 16) view.setUint16(i * 2, count);
    else if (bits === 32) view.setUint32(i * 4, count);
    else view.setBigUint64(i * 8, BigInt(count));
  }
  return block;
}
