/** What QEMU's decoder can look back. */
export const longestDistance = 4096;
const windowMask = longestDistance - 1;
const hashBits = 13;
const shortest = 3;
const longest = 258;
/** How many earlier places are tried for one match; a match of `enough` bytes is taken without looking for more. */
const mostTries = 64;
const enough = 64;

/** Where a literal stands as its byte, and a match as its length and, in the low 13 bits, its distance. */
export const matchShift = 13;

/** LZ77: the literals and matches that make up `input`, in order, as numbers. */
export function findMatches(input: Uint8Array): Uint32Array {
  const tokens = new Uint32Array(input.length);
  const heads = new Int32Array(1 << hashBits).fill(-1);
  const earlier = new Int32Array(longestDistance);
  const last = input.length - shortest;
  let count = 0;
  let foundDistance = 0;

  const enter = (at: number) => {
    if (at > last) return;
    const hash = hashOf(input, at);
    earlier[at & windowMask] = heads[hash] as number;
    heads[hash] = at;
  };

  /** The length of the longest match at `at` that is longer than `least`, or 0. */
  const find = (at: number, least: number): number => {
    if (at > last) return 0;
    const limit = Math.min(longest, input.length - at);
    let best = Math.max(least, shortest - 1);
    let found = 0;
    if (best >= limit) return 0;
    let place = heads[hashOf(input, at)] as number;
    for (let tries = mostTries; tries > 0 && place >= 0 && at - place <= longestDistance; tries--) {
      if (input[place + best] === input[at + best]) {
        let length = 0;
        while (length < limit && input[place + length] === input[at + length]) length++;
        if (length > best) {
          best = found = length;
          foundDistance = at - place;
          if (length >= enough || length === limit) break;
        }
      }
      const next = earlier[place & windowMask] as number;
      // Its place was taken by a later one, as happens at the very end of the window.
      if (next >= place) break;
      place = next;
    }
    return found;
  };

  for (let at = 0; at < input.length; ) {
    const length = find(at, 0);
    if (length === 0) {
      enter(at);
      tokens[count++] = input[at++] as number;
      continue;
    }
    const distance = foundDistance;
    enter(at);
    // A longer match that starts one byte later is worth a literal.
    if (length < enough && find(at + 1, length) > 0) {
      tokens[count++] = input[at++] as number;
      continue;
    }
    tokens[count++] = (length << matchShift) | distance;
    for (const end = at + length; ++at < end; ) enter(at);
  }
  return tokens.subarray(0, count);
}

function hashOf(input: Uint8Array, at: number): number {
  const bytes = (input[at] as number) | ((input[at + 1] as number) << 8) | ((input[at + 2] as number) << 16);
  return Math.imul(bytes, 0x9e3779b1) >>> (32 - hashBits);
}
