import { BlockError } from '@blockyard/core';
import { Guest } from '../guest/guest.ts';
import { isRange, type Operation } from '../guest/operations.ts';
import { type FaultPlan, Faults } from '../machine/faults.ts';
import { Machine } from '../machine/machine.ts';
import type { Subject } from '../setup/subject.ts';
import { Judge } from './judge.ts';

const codes = ['EIO', 'ENOSPC'] as const;
/** One request, some, or all until the caller has noticed. */
const durations = [1, 3, 1000] as const;

/**
 * Has every `each`-th request of every kind fail that the operations make below, each in a run of its own. Returns the
 * number of runs.
 */
export async function everyFault(
  subject: Subject,
  operations: readonly Operation[],
  { each }: { each: number },
): Promise<number> {
  let runs = 0;
  for (const [op, requests] of await countRequests(subject, operations)) {
    for (let at = 0; at < requests; at += each) {
      const code = codes[runs % 2] as (typeof codes)[number];
      const plan = { op, at, code, lasts: durations[runs % 3] as number };
      try {
        await faultRun(subject, operations, plan);
      } catch (error) {
        const text = `${JSON.stringify(plan)}, ${subject.name}: ${(error as Error).message}`;
        throw new Error(text, { cause: error });
      }
      runs++;
    }
  }
  return runs;
}

async function countRequests(subject: Subject, operations: readonly Operation[]): Promise<Faults['counts']> {
  const { guest, faults } = await begin(subject);
  for (const operation of operations) await guest.perform(operation);
  await guest.close();
  return faults.counts;
}

/**
 * Does the operations while a request below fails. The error must reach the caller, the disk must be what it may be, work
 * must go on when the fault is over, and the image must be sound.
 */
async function faultRun(subject: Subject, operations: readonly Operation[], plan: FaultPlan): Promise<void> {
  const { machine, guest, faults } = await begin(subject, plan);
  const failures: unknown[] = [];
  let excused = 0;
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!isInjected(error, plan)) throw error;
      failures.push(error);
    }
  };
  for (const operation of operations) {
    if (!guest.isOpen) {
      faults.end();
      await guest.recover();
    }
    if (guest.unsure && !faults.active) await guest.verify();
    // What the disk holds is needed for these.
    if (guest.unsure && !isRange(operation) && operation.kind !== 'flush') continue;
    const { fired } = faults;
    await attempt(() => guest.perform(operation));
    // What is tidied up after a change of the whole disk has been made may fail in silence.
    if ('which' in operation || operation.kind === 'resize') excused += faults.fired - fired;
  }
  if (guest.isOpen) await attempt(() => guest.close());
  faults.end();
  await guest.recover();
  await guest.close();
  // Discards may be let go: nothing depends on them.
  if (faults.fired > excused && failures.length === 0 && plan.op !== 'discard') {
    throw new Error(`${faults.fired} requests failed, and nobody was told`);
  }
  const files = new Map([...machine.files].map(([name, file]) => [name, file.live.copy()]));
  const judge = new Judge(subject, guest.history);
  await judge.inspect(files, Number.POSITIVE_INFINITY);
  await judge.goOn(files, machine.random);
}

async function begin(subject: Subject, plan?: FaultPlan) {
  const machine = new Machine(1, { turns: 1, recording: false });
  await subject.make(machine);
  const guest = new Guest(subject, machine);
  await guest.open();
  return { machine, guest, faults: new Faults(machine, plan) };
}

function isInjected(error: unknown, { code }: FaultPlan): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (BlockError[Symbol.hasInstance](at) && (at as BlockError).code === code) return true;
  }
  return false;
}
