import { alignDown } from '@blockyard/core';
import { sectorBytes } from '../machine/change.ts';
import { durableBefore } from '../machine/power-cut.ts';
import type { Effect, History } from './history.ts';

const chunkBytes = 32 * sectorBytes;

/**
 * What a disk may hold, given which effects are sure to have come about (`fixed`) and which may have (`possible`). A
 * byte is that of any possible effect on it that no fixed one followed; so is a sector, where all of them start at one.
 */
export class Expectation {
  readonly sizes: readonly number[];
  readonly #fixed: (effect: Effect) => boolean;
  readonly #open: Effect[];
  /** The disk as far as there is one answer: effects that end before any open one starts. */
  readonly #base: Uint8Array;

  /** `within`: the only part that is asked about, where it is not the whole. */
  constructor(
    history: History,
    moment: number,
    durable: number,
    within = { offset: 0, length: Number.POSITIVE_INFINITY },
  ) {
    const sure = (effect: { ended: number; forced?: boolean; doubtful?: boolean }) =>
      !effect.doubtful && (effect.ended < durable || (effect.forced === true && effect.ended < moment));
    this.#fixed = sure;
    const resizings = history.sizes.filter(({ started }) => started < moment);
    const lastSure = resizings.reduce((last, one, i) => (sure(one) ? i : last), 0);
    this.sizes = resizings.slice(lastSure).map(({ size }) => size);
    const possible = history.effects
      .filter((one) => one.started < moment && touches(one, within.offset, within.offset + within.length))
      .sort((a, b) => a.started - b.started);
    const length = Math.max(
      history.before.length,
      ...this.sizes,
      ...possible.map(({ offset, bytes }) => offset + bytes.length),
    );
    this.#base = new Uint8Array(length);
    this.#base.set(history.before);
    this.#open = [];
    const isOpen = new Uint8Array(possible.length);
    for (let i = 0; i < possible.length; i++) {
      const effect = possible[i] as Effect;
      const alone =
        sure(effect) &&
        !possible.some((other, j) => {
          if (j === i || !overlaps(effect, other)) return false;
          return j < i ? isOpen[j] === 1 : other.started < effect.ended;
        });
      if (alone) this.#base.set(effect.bytes, effect.offset);
      else {
        this.#open.push(effect);
        isOpen[i] = 1;
      }
    }
  }

  /** Throws where the disk is not what it may be. */
  check(disk: Uint8Array): void {
    if (!this.sizes.includes(disk.length)) {
      throw new Error(`the disk has ${disk.length} bytes, and should have ${this.sizes.join(' or ')}`);
    }
    this.checkRange(disk, 0);
  }

  /** For a part of the disk. */
  checkRange(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    for (let start = offset; start < end; ) {
      const stop = Math.min(end, alignDown(start, chunkBytes) + chunkBytes);
      const here = this.#open.filter((effect) => touches(effect, start, stop));
      const part = bytes.subarray(start - offset, stop - offset);
      if (here.length > 0 || Buffer.compare(part, this.#base.subarray(start, stop)) !== 0) {
        this.#checkChunk(part, start, here);
      }
      start = stop;
    }
  }

  #checkChunk(bytes: Uint8Array, offset: number, near: readonly Effect[]): void {
    const end = offset + bytes.length;
    for (let start = offset; start < end; ) {
      const stop = Math.min(end, alignDown(start, sectorBytes) + sectorBytes);
      this.#checkSector(bytes.subarray(start - offset, stop - offset), start, near);
      start = stop;
    }
  }

  #checkSector(bytes: Uint8Array, start: number, near: readonly Effect[]): void {
    const end = start + bytes.length;
    const here = near.filter((effect) => touches(effect, start, end));
    const whole = here.every(({ offset, bytes }) => offset <= start && offset + bytes.length >= end);
    if (whole && this.#allowed(here, start, bytes.length).some(same(bytes))) return;
    // What starts within a sector may be cut into pieces within one.
    const atSectors = here.every(({ offset }) => offset % sectorBytes === 0 || offset === start);
    const wrong = whole && atSectors ? 0 : this.#wrongByte(bytes, start, here);
    if (wrong < 0) return;
    const hex = (from: Uint8Array) => Buffer.from(from.subarray(0, 12)).toString('hex');
    const at = start + wrong;
    const found = hex(bytes.subarray(wrong));
    const settled = hex(this.#base.subarray(at, end));
    throw new Error(`byte ${at} of the disk is ${found}; settled was ${settled}, ${this.#tell(here, at)}`);
  }

  /** Where effects begin and end within a sector, each byte stands for itself. */
  #wrongByte(bytes: Uint8Array, start: number, here: readonly Effect[]): number {
    const end = start + bytes.length;
    const borders = here.flatMap((effect) => [effect.offset, effect.offset + effect.bytes.length]);
    const cuts = [...new Set([start, ...borders.filter((at) => at > start && at < end), end])].sort(
      (a, b) => a - b,
    );
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [from, to] = [cuts[i] as number, cuts[i + 1] as number];
      const values = this.#allowed(
        here.filter((effect) => touches(effect, from, to)),
        from,
        to - from,
      );
      if (values.some(same(bytes.subarray(from - start, to - start)))) continue;
      for (let at = from; at < to; at++) {
        if (!values.some((value) => value[at - from] === bytes[at - start])) return at - start;
      }
    }
    return -1;
  }

  /** What a range may be, all of which each of the effects writes. */
  #allowed(here: readonly Effect[], start: number, length: number): Uint8Array[] {
    const fixed = here.filter(this.#fixed);
    const last = Math.max(...fixed.map(({ started }) => started));
    const values = here
      .filter(({ ended }) => ended >= last)
      .map(({ offset, bytes }) => bytes.subarray(start - offset, start - offset + length));
    if (fixed.length === 0) values.push(this.#base.subarray(start, start + length));
    return values;
  }

  #tell(here: readonly Effect[], at: number): string {
    if (here.length === 0) return 'and nothing else may be there';
    const one = (effect: Effect) => {
      const { started, ended, offset, bytes } = effect;
      const value =
        at >= offset ? Buffer.from(bytes.subarray(at - offset, at - offset + 12)).toString('hex') : '';
      return `${offset}+${bytes.length} at ${started}..${ended}${this.#fixed(effect) ? ' surely' : ''} ${value}`;
    };
    return `and then came ${here.slice(0, 12).map(one).join(', ')}`;
  }
}

const same = (a: Uint8Array) => (b: Uint8Array) => Buffer.compare(a, b) === 0;
const overlaps = (a: Effect, b: Effect): boolean => touches(a, b.offset, b.offset + b.bytes.length);
const touches = ({ offset, bytes }: Effect, start: number, end: number): boolean =>
  offset < end && start < offset + bytes.length;

/** After a power cut at `moment`. */
export const afterPowerCut = (history: History, moment: number): Expectation =>
  new Expectation(history, moment, durableBefore(history.flushes, moment));

/** While everything runs, when `moment` has come and nothing is in flight. */
export const now = (history: History): Expectation =>
  new Expectation(history, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
