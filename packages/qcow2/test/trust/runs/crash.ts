import { Guest } from '../guest/guest.ts';
import { doSeveral } from '../guest/several.ts';
import { Machine } from '../machine/machine.ts';
import { PowerCuts } from '../machine/power-cut.ts';
import { Random } from '../random.ts';
import type { Subject } from '../setup/subject.ts';
import { Judge, type Opinion } from './judge.ts';

export interface CrashOptions {
  seed: number;
  /** Power cuts in the recording of one workload. */
  points: number;
  /** Operations of the workload (default 60). */
  operations?: number;
  /** Whether the flushes of the file below do what they say. */
  honest?: () => boolean;
  opinion?: Opinion | undefined;
  /** Whether only `opinion` is asked. */
  onlyOpinion?: boolean;
  /** Every how many points the image is written on with (default 4). */
  goOnEvery?: number;
}

/**
 * Records one workload, cuts the power at `points` moments of it, and looks at what is left each time.
 * @throws the first fault found, with what repeats it
 */
export async function crashRun(subject: Subject, options: CrashOptions): Promise<number> {
  const {
    seed,
    points,
    operations = 60,
    honest = () => true,
    goOnEvery = 4,
    opinion,
    onlyOpinion = false,
  } = options;
  const random = new Random(seed);
  const machine = new Machine(seed, { honest });
  await subject.make(machine);
  const guest = new Guest(subject, machine);
  await guest.open();
  // What is before the recording is on the disk, so that clusters have been used, and given back, before.
  await doSeveral(guest, random, Math.floor(operations / 3), 4);
  await guest.close();
  const recorded = new Guest(subject, machine, guest.model);
  recorded.history.snapshots.push(...guest.snapshots);
  machine.settle();
  const began = machine.tick();
  await recorded.open();
  await doSeveral(recorded, random, operations, 6);
  await recorded.verify();
  await recorded.close();
  if (machine.complaints.length > 0)
    throw new Error(`${machine.complaints[0]} (seed ${seed}, ${subject.name})`);
  const ended = machine.tick();
  const judge = new Judge(subject, recorded.history);
  const cuts = new PowerCuts(machine);
  const moments = Array.from({ length: points }, () => random.between(began, ended)).sort((a, b) => a - b);
  for (const [i, moment] of moments.entries()) {
    const files = cuts.at(moment, random);
    try {
      if (!onlyOpinion) await judge.inspect(files, moment);
      await opinion?.(files, subject);
      if (!onlyOpinion && i % goOnEvery === 0) await judge.goOn(files, random);
    } catch (error) {
      const text = `power cut ${i} at ${moment} of ${began}..${ended}: ${(error as Error).message}`;
      throw new Error(`${text}\nseed ${seed}: ${subject.name}`, { cause: error });
    }
  }
  return points;
}
