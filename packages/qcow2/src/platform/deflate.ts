import { BitWriter, codesOf } from './bit-writer.ts';
import { codeLengths } from './code-lengths.ts';
import {
  codeOrder,
  distanceBase,
  distanceExtra,
  fixedDistances,
  fixedLiterals,
  lengthBase,
  lengthExtra,
} from './deflate-tables.ts';
import { findMatches, longestDistance, matchShift } from './matches.ts';

// RFC 1951. Written out because the platform's CompressionStream looks back 32 KiB, and QEMU decodes clusters with a
// window of 4 KiB.

/** Symbols of one block: enough for a code to be worth its description, few enough for it to suit them. */
const blockTokens = 1 << 14;
const endOfBlock = 256;
const distanceMask = (1 << matchShift) - 1;

const lengthCodes = codeTable(259, lengthBase);
const distanceCodes = codeTable(longestDistance + 1, distanceBase);

function codeTable(size: number, bases: Uint16Array): Uint8Array {
  const table = new Uint8Array(size);
  bases.forEach((base, code) => {
    table.fill(code, base);
  });
  return table;
}

/** Raw deflate of `input`, or undefined when it would not be smaller. */
export function deflateRaw(input: Uint8Array): Uint8Array | undefined {
  const writer = new BitWriter(input.length);
  const tokens = findMatches(input);
  for (let at = 0; at < tokens.length; at += blockTokens) {
    writeBlock(writer, tokens.subarray(at, at + blockTokens), at + blockTokens >= tokens.length);
  }
  const output = writer.finish();
  return output && output.length > 0 && output.length < input.length ? output : undefined;
}

function writeBlock(writer: BitWriter, tokens: Uint32Array, last: boolean): void {
  const literals = new Uint32Array(286);
  const distances = new Uint32Array(30);
  for (const token of tokens) {
    const length = token >>> matchShift;
    const symbol = length === 0 ? token : 257 + (lengthCodes[length] as number);
    literals[symbol] = (literals[symbol] as number) + 1;
    if (length === 0) continue;
    const code = distanceCodes[token & distanceMask] as number;
    distances[code] = (distances[code] as number) + 1;
  }
  literals[endOfBlock] = 1;
  const literalLengths = codeLengths(literals, 15);
  const distanceLengths = codeLengths(distances, 15);
  const header = describe(literalLengths, distanceLengths);
  const own = header.bits + bitsOf(literals, literalLengths) + bitsOf(distances, distanceLengths);
  const fixed = bitsOf(literals, fixedLiterals) + bitsOf(distances, fixedDistances);
  writer.put(last ? 1 : 0, 1);
  if (own < fixed) {
    writer.put(2, 2);
    header.write(writer);
    writeTokens(writer, tokens, literalLengths, distanceLengths);
  } else {
    writer.put(1, 2);
    writeTokens(writer, tokens, fixedLiterals, fixedDistances);
  }
}

/** Without the extra bits, which cost the same in any code. */
const bitsOf = (counts: Uint32Array, lengths: Uint8Array): number =>
  counts.reduce((bits, count, symbol) => bits + count * (lengths[symbol] as number), 0);

function writeTokens(
  writer: BitWriter,
  tokens: Uint32Array,
  literalLengths: Uint8Array,
  distanceLengths: Uint8Array,
): void {
  const literals = codesOf(literalLengths);
  const distances = codesOf(distanceLengths);
  const put = (codes: Uint16Array, lengths: Uint8Array, symbol: number) =>
    writer.put(codes[symbol] as number, lengths[symbol] as number);
  for (const token of tokens) {
    const length = token >>> matchShift;
    if (length === 0) {
      put(literals, literalLengths, token);
      continue;
    }
    const lengthCode = lengthCodes[length] as number;
    put(literals, literalLengths, 257 + lengthCode);
    writer.put(length - (lengthBase[lengthCode] as number), lengthExtra[lengthCode] as number);
    const distance = token & distanceMask;
    const distanceCode = distanceCodes[distance] as number;
    put(distances, distanceLengths, distanceCode);
    writer.put(distance - (distanceBase[distanceCode] as number), distanceExtra[distanceCode] as number);
  }
  put(literals, literalLengths, endOfBlock);
}

const repeats = { 16: { least: 3, bits: 2 }, 17: { least: 3, bits: 3 }, 18: { least: 11, bits: 7 } } as const;
const extraBits = (symbol: number): number => repeats[symbol as keyof typeof repeats]?.bits ?? 0;

/** The description of a block's codes: how long it is, and how it is written. */
function describe(literalLengths: Uint8Array, distanceLengths: Uint8Array) {
  const literalCount = usedLength(literalLengths, 257);
  const distanceCount = usedLength(distanceLengths, 1);
  const all = new Uint8Array(literalCount + distanceCount);
  all.set(literalLengths.subarray(0, literalCount));
  all.set(distanceLengths.subarray(0, distanceCount), literalCount);
  const runs = runLengths(all);
  const counts = new Uint32Array(19);
  for (const [symbol] of runs) counts[symbol] = (counts[symbol] as number) + 1;
  const lengths = codeLengths(counts, 7);
  let codeCount = 19;
  while (codeCount > 4 && lengths[codeOrder[codeCount - 1] as number] === 0) codeCount--;
  return {
    bits:
      14 +
      3 * codeCount +
      bitsOf(counts, lengths) +
      runs.reduce((sum, [symbol]) => sum + extraBits(symbol), 0),
    write(writer: BitWriter): void {
      const codes = codesOf(lengths);
      writer.put(literalCount - 257, 5);
      writer.put(distanceCount - 1, 5);
      writer.put(codeCount - 4, 4);
      for (const symbol of codeOrder.slice(0, codeCount)) writer.put(lengths[symbol] as number, 3);
      for (const [symbol, extra] of runs) {
        writer.put(codes[symbol] as number, lengths[symbol] as number);
        writer.put(extra, extraBits(symbol));
      }
    },
  };
}

function usedLength(lengths: Uint8Array, least: number): number {
  let count = lengths.length;
  while (count > least && lengths[count - 1] === 0) count--;
  return count;
}

/** Code lengths as symbols with their extra bits: repetitions are told as such. */
function runLengths(lengths: Uint8Array): [symbol: number, extra: number][] {
  const found: [number, number][] = [];
  for (let at = 0; at < lengths.length; ) {
    const value = lengths[at] as number;
    let run = 1;
    while (lengths[at + run] === value) run++;
    at += run;
    if (value !== 0) {
      found.push([value, 0]);
      run--;
    }
    while (run >= 3) {
      const symbol = value !== 0 ? 16 : run < 11 ? 17 : 18;
      const { least, bits } = repeats[symbol];
      const count = Math.min(run, least + (1 << bits) - 1);
      found.push([symbol, count - least]);
      run -= count;
    }
    for (; run > 0; run--) found.push([value, 0]);
  }
  return found;
}
