import { content } from '../guest/content.ts';
import { Expectation, now } from '../guest/expectation.ts';
import { Guest } from '../guest/guest.ts';
import { type Effect, History } from '../guest/history.ts';
import { Machine } from '../machine/machine.ts';
import { Random } from '../random.ts';
import type { Subject } from '../setup/subject.ts';
import { Judge } from './judge.ts';

export interface ConcurrencyOptions {
  seed: number;
  rounds: number;
  /** Requests in flight at once. */
  width: number;
}

interface Read {
  offset: number;
  bytes: Uint8Array;
  started: number;
  ended: number;
}

/**
 * Has many requests in flight on few clusters, overlapping as they please, some one after the other. Every read and what
 * is there in the end must be what some order of the requests gives that agrees with their ends and starts.
 */
export async function concurrencyRun(
  subject: Subject,
  { seed, rounds, width }: ConcurrencyOptions,
): Promise<number> {
  const random = new Random(seed);
  const machine = new Machine(seed, { recording: false });
  await subject.make(machine);
  const guest = new Guest(subject, machine);
  await guest.open();
  let { model } = guest;
  for (let round = 0; round < rounds; round++) {
    const history = new History(model);
    const reads: Read[] = [];
    const hot = hotSpots(subject, random);
    const lanes = Array.from({ length: width }, () =>
      lane(guest, machine, subject, random, hot, history, reads),
    );
    await Promise.all(lanes);
    try {
      for (const { offset, bytes, started, ended } of reads) {
        const within = { offset, length: bytes.length };
        new Expectation(history, ended, started, within).checkRange(bytes, offset);
      }
      model = await guest.readAll();
      now(history).check(model);
    } catch (error) {
      throw new Error(`round ${round}, seed ${seed}, ${subject.name}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  await guest.close();
  if (machine.complaints.length > 0)
    throw new Error(`${machine.complaints[0]} (seed ${seed}, ${subject.name})`);
  const files = new Map([...machine.files].map(([name, file]) => [name, file.live.copy()]));
  await new Judge(subject, guest.history).check(files, true);
  return rounds * width * perLane;
}

const perLane = 2;

/** Starts of a few clusters that all requests are near. */
const hotSpots = ({ size, clusterSize }: Subject, random: Random): number[] =>
  Array.from({ length: 3 }, () => random.below(Math.ceil(size / clusterSize)) * clusterSize);

async function lane(
  guest: Guest,
  machine: Machine,
  subject: Subject,
  random: Random,
  hot: readonly number[],
  history: History,
  reads: Read[],
): Promise<void> {
  const { node } = guest;
  for (let i = 0; i < perLane; i++) {
    const unit = random.pick([1, 512, 512, subject.clusterSize]);
    const offset = Math.min(
      subject.size - 1,
      random.pick(hot) + unit * random.below(Math.ceil(subject.clusterSize / unit)),
    );
    const length = Math.min(
      subject.size - offset,
      unit * random.between(1, Math.max(1, (1.5 * subject.clusterSize) / unit)),
    );
    const started = machine.tick();
    const effect = (bytes: Uint8Array, more: Partial<Effect> = {}) =>
      history.effects.push({ offset, bytes, started, ended: machine.tick(), ...more });
    const kind = random.below(20);
    if (kind < 9) {
      const bytes = content(random.between(1, 1 << 20), offset, length);
      await node.write(offset, bytes, { fua: kind === 0 });
      effect(bytes);
    } else if (kind < 12) {
      await node.writeZeroes(offset, length, { mayUnmap: kind === 11 });
      effect(new Uint8Array(length));
    } else if (kind < 14) {
      await node.discard(offset, length);
      // It may have done nothing, and may show zeroes or what lies behind.
      effect(new Uint8Array(length), { doubtful: true });
      const behind = new Uint8Array(length);
      behind.set(subject.backing.subarray(offset, offset + length));
      effect(behind, { doubtful: true });
    } else if (kind < 19) {
      const bytes = new Uint8Array(length);
      await node.read(offset, bytes);
      reads.push({ offset, bytes, started, ended: machine.tick() });
    } else await node.flush();
  }
}
