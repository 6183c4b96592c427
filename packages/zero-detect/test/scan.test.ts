import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as node from '../src/scan.node.ts';
import { createScan } from '../src/scan.node.ts';
import * as portable from '../src/scan.portable.ts';
import type { Scan } from '../src/scan.types.ts';
import { scanBuffer } from '../src/scan-buffer.ts';
import { firstNonZero, sparse, zeroesAt } from './model.ts';

const scans: Record<string, Scan> = {
  'portable (words)': portable.scan,
  'memcmp alone': scanBuffer,
  'node without the addon': createScan(undefined),
  'node with an addon': createScan((view) => firstNonZero(Array.from(view))),
  [`node as it is here (${node.implementation()})`]: node.scan,
};

describe.each(Object.entries(scans))('%s', (_name, scan) => {
  it('finds every single byte at every alignment and length around the thresholds', () => {
    for (const length of [1, 7, 8, 9, 47, 48, 49, 64, 111, 112, 113, 127, 200, 699, 700, 701, 777]) {
      for (let byteOffset = 0; byteOffset < 8; byteOffset++) {
        const view = zeroesAt(byteOffset, length);
        if (scan(view, 0, length) !== -1) expect.fail(`${byteOffset} ${length}: saw beyond the end`);
        for (let at = 0; at < length; at++) {
          view[at] = 0x80;
          const found = scan(view, 0, length);
          if (found !== at) expect.fail(`${byteOffset} ${length}: ${found}, not ${at}`);
          view[at] = 0;
        }
      }
    }
  });

  it('keeps to the range', () => {
    fc.assert(
      fc.property(sparse(3000), fc.nat(), fc.nat(), (view, x, y) => {
        const [a, b] = [x % (view.length + 1), y % (view.length + 1)];
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        expect(scan(view, from, to)).toBe(firstNonZero(Array.from(view), from, to));
      }),
      { numRuns: 300 },
    );
  });

  it('goes on behind the first 64 KiB', () => {
    const view = zeroesAt(3, 300_000);
    expect(scan(view, 0, view.length)).toBe(-1);
    for (const at of [65_535, 65_536, 131_072, 200_001, 299_999]) {
      view.fill(0);
      view[at] = 1;
      view[299_999] = 1;
      expect(scan(view, 0, view.length)).toBe(at);
      expect(scan(view, at, view.length)).toBe(at);
      expect(scan(view, 1, at)).toBe(-1);
    }
  });

  it.each([1, 0x80, 0xff])('sees the value %d in every place of a word', (value) => {
    for (let at = 256; at < 264; at++) {
      const view = new Uint8Array(1024);
      view[at] = value;
      expect(scan(view, 0, 1024)).toBe(at);
    }
  });

  it('reads shared and resizable memory', () => {
    const Resizable = ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer;
    for (const memory of [new SharedArrayBuffer(5000), new Resizable(5000, { maxByteLength: 9000 })]) {
      const view = new Uint8Array(memory);
      expect(scan(view, 0, 5000)).toBe(-1);
      view[4321] = 1;
      expect(scan(view, 0, 5000)).toBe(4321);
    }
  });
});

describe('the addon', () => {
  it('is given exactly the range, and only large ranges that look zero', () => {
    const given: Uint8Array[] = [];
    const scan = createScan((view) => {
      given.push(view);
      return -1;
    });
    const view = new Uint8Array(2000);
    scan(view, 0, node.LARGE_FROM - 1);
    view[10] = 1;
    scan(view, 0, 2000);
    expect(given).toEqual([]);
    scan(view, 100, 1900);
    expect([given[0]?.byteOffset, given[0]?.length]).toEqual([100, 1800]);
    view[10] = 0;
    scan(view, 0, 1500);
    expect([given[1]?.byteOffset, given[1]?.length]).toEqual([0, 1500]);
    scan(view, 0, 2000);
    expect(given[2]).toBe(view);
  });

  it('has its answer moved to where the range begins', () => {
    expect(createScan(() => 1000)(new Uint8Array(5000), 500, 5000)).toBe(1500);
  });
});
