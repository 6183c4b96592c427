import { type BlockDriver, BlockError, memory, type Operation } from '@blockyard/core';
import type { World } from '../guest/world.ts';
import { Random } from '../random.ts';
import type { Below } from '../setup/subject.ts';
import { type Change, make, type Span } from './change.ts';
import { Growing } from './growing.ts';
import { RecordedNode } from './recorded-node.ts';

/** A file of the machine: what it holds, and how it came to. */
export class RecordedFile {
  readonly live = new Growing();
  /** What it held when recording began. */
  before: Uint8Array = new Uint8Array(0);
  readonly changes: Change[] = [];
  readonly flushes: Span[] = [];

  make(change: Change, keep: boolean): void {
    make(this.live, change);
    if (keep) this.changes.push(change);
  }

  /** Begins the recording anew, with all that is there on stable storage. */
  settle(): void {
    this.before = this.live.copy();
    this.changes.length = this.flushes.length = 0;
  }
}

export interface MachineSettings {
  /** Requests take this many turns at most (default 3); with 0 they finish at once. */
  turns?: number;
  /** Whether what happens is kept for power cuts (default true). */
  recording?: boolean;
  /** Whether a flush does what it says. */
  honest?: () => boolean;
}

/** Called before a request is done: what it throws is what the request fails with. */
export type Fault = (file: string, op: Operation, offset: number, length: number) => void;

/**
 * Named files behind a protocol driver that records, in one order of time, what changes them and what makes the changes
 * durable. Requests take time, and overtake each other.
 */
export class Machine implements World {
  readonly files = new Map<string, RecordedFile>();
  readonly random: Random;
  readonly honest: () => boolean;
  readonly recording: boolean;
  /** What no caller may do, done. */
  readonly complaints: string[] = [];
  readonly driver: BlockDriver;
  readonly below: Below = (name) => ({ driver: 'recorded', name });
  fault: Fault | undefined;
  #turns: number;
  #now = 0;

  constructor(seed: number, { turns = 3, honest = () => true, recording = true }: MachineSettings = {}) {
    this.random = new Random(seed);
    this.#turns = turns;
    this.honest = honest;
    this.recording = recording;
    const driver: BlockDriver<{ name: string }> = {
      name: 'recorded',
      kind: 'protocol',
      help: 'files that remember',
      schemes: ['recorded'],
      options: { name: { type: 'string', required: true, help: 'which' } },
      open: async ({ name }, context) => new RecordedNode(this, name, this.file(name), context),
      parseName: (name) => ({ driver: 'recorded', name: name.replace(/^recorded:\/\//, '') }),
      locate: async (name) => ({
        options: { driver: 'recorded', name },
        location: { directory: '/', identity: `recorded:${name}` },
      }),
      sibling: (name) => ({ driver: 'recorded', name }),
      createFile: async ({ name }, { size }) => {
        const file = new RecordedFile();
        file.live.resize(size);
        this.files.set(name, file);
      },
    };
    this.driver = driver as unknown as BlockDriver;
  }

  file(name: string): RecordedFile {
    const file = this.files.get(name);
    if (!file) throw new BlockError('ENOENT', `the machine has no file ${name}`);
    return file;
  }

  /** A new moment. */
  tick(): number {
    return ++this.#now;
  }

  settle(): void {
    for (const file of this.files.values()) file.settle();
  }

  /** The time that a request takes. */
  async wait(): Promise<void> {
    if (this.#turns === 0) return;
    if (this.random.chance(0.1)) await new Promise((resolve) => setImmediate(resolve));
    for (let left = this.random.below(this.#turns + 1); left > 0; left--) await undefined;
  }
}

export const inMemory = (data: Uint8Array) => ({ driver: 'memory', data });
export const memoryDriver = memory() as unknown as BlockDriver;
