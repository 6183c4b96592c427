import type { Operation } from '@blockyard/core';
import type { Machine } from './machine.ts';

export interface FaultPlan {
  op: Operation;
  /** Which request of that kind, from 0. */
  at: number;
  code: 'EIO' | 'ENOSPC';
  /** How many requests that change something fail from then on; reads too, when it is a read that fails first. */
  lasts: number;
}

/** Counts a machine's requests by kind, and has some fail. */
export class Faults {
  readonly counts = new Map<Operation, number>();
  fired = 0;
  #left = 0;

  constructor(machine: Machine, plan?: FaultPlan) {
    machine.fault = (file, op, offset, length) => {
      const count = this.counts.get(op) ?? 0;
      this.counts.set(op, count + 1);
      if (!plan) return;
      if (op === plan.op && count === plan.at) this.#left = plan.lasts;
      if (this.#left === 0 || (op === 'read' && plan.op !== 'read')) return;
      this.#left--;
      this.fired++;
      throw Object.assign(new Error(`made to fail: ${op} of ${length} bytes at ${offset} of ${file}`), {
        code: plan.code,
      });
    };
  }

  get active(): boolean {
    return this.#left > 0;
  }

  /** Nothing fails any more. */
  end(): void {
    this.#left = 0;
  }
}
