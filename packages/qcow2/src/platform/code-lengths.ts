/** Lengths of a Huffman code for symbols that occur `counts` times, none above `most`; 0 for those that do not occur. */
export function codeLengths(counts: Uint32Array, most: number): Uint8Array {
  const lengths = new Uint8Array(counts.length);
  const symbols = [...counts.keys()].filter((symbol) => (counts[symbol] as number) > 0);
  // Some decoders do not take a code of fewer than two symbols.
  for (let symbol = 0; symbols.length < 2; symbol++) if (counts[symbol] === 0) symbols.push(symbol);
  symbols.sort((a, b) => (counts[a] as number) - (counts[b] as number) || a - b);
  const perLength = limited(depths(symbols.map((symbol) => counts[symbol] as number)), most);
  // The rarest have the longest.
  let place = 0;
  for (let length = most; length > 0; length--) {
    for (let i = perLength[length] as number; i > 0; i--) lengths[symbols[place++] as number] = length;
  }
  return lengths;
}

/** How deep each leaf lies in a Huffman tree over weights in ascending order. */
function depths(weights: readonly number[]): number[] {
  const leaves = weights.length;
  const nodes = [...weights];
  const parents: number[] = [];
  let leaf = 0;
  let inner = leaves;
  // Inner nodes come to be in ascending order too, so the smallest is always the first of one of the two.
  const smallest = (): number =>
    leaf < leaves && (inner >= nodes.length || (nodes[leaf] as number) <= (nodes[inner] as number))
      ? leaf++
      : inner++;
  while (nodes.length < 2 * leaves - 1) {
    const a = smallest();
    const b = smallest();
    parents[a] = parents[b] = nodes.length;
    nodes.push((nodes[a] as number) + (nodes[b] as number));
  }
  const depth = new Array<number>(nodes.length).fill(0);
  for (let node = nodes.length - 2; node >= 0; node--)
    depth[node] = (depth[parents[node] as number] as number) + 1;
  return depth.slice(0, leaves);
}

/** How many codes have each length, when none may be longer than `most`. */
function limited(depth: readonly number[], most: number): Uint16Array {
  const counts = new Uint16Array(most + 1);
  let space = 0;
  for (const one of depth) {
    const length = Math.min(one, most);
    counts[length] = (counts[length] as number) + 1;
    space += 1 << (most - length);
  }
  // Shortening took more than there is: one of the longest moves to beside a shorter one, which grows by one bit for it.
  for (; space > 1 << most; space--) {
    let length = most - 1;
    while (counts[length] === 0) length--;
    counts[most] = (counts[most] as number) - 1;
    counts[length] = (counts[length] as number) - 1;
    counts[length + 1] = (counts[length + 1] as number) + 2;
  }
  return counts;
}
