import type { Random } from '../random.ts';
import { type Change, make, type Span } from './change.ts';
import { applyFates } from './fates.ts';
import { Growing } from './growing.ts';
import type { Machine, RecordedFile } from './machine.ts';

/** Everything acknowledged before this moment is durable at `moment`: the start of the last flush that has ended. */
export function durableBefore(flushes: readonly Span[], moment: number): number {
  let last = 0;
  for (const { started, ended } of flushes) if (ended < moment && started > last) last = started;
  return last;
}

class FileReplay {
  readonly #file: RecordedFile;
  readonly #changes: readonly Change[];
  readonly #durable: Growing;
  #folded = 0;

  constructor(file: RecordedFile) {
    this.#file = file;
    this.#durable = new Growing(file.before.slice());
    this.#changes = [...file.changes].sort((a, b) => a.ended - b.ended);
  }

  at(moment: number, random: Random): Uint8Array {
    const durable = durableBefore(this.#file.flushes, moment);
    for (let next = this.#changes[this.#folded]; next && next.ended < durable; ) {
      make(this.#durable, next);
      next = this.#changes[++this.#folded];
    }
    const left = new Growing(this.#durable.copy());
    const pending = this.#changes.slice(this.#folded).filter(({ started }) => started < moment);
    if (pending.length > 0) applyFates(left, pending, random);
    return left.view();
  }
}

/** What is left of a machine's files when the power fails. Moments must not go backwards. */
export class PowerCuts {
  readonly #replays: Map<string, FileReplay>;

  constructor(machine: Machine) {
    this.#replays = new Map([...machine.files].map(([name, file]) => [name, new FileReplay(file)]));
  }

  at(moment: number, random: Random): Map<string, Uint8Array> {
    return new Map([...this.#replays].map(([name, replay]) => [name, replay.at(moment, random)]));
  }
}
