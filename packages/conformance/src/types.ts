import type { BlockDriver, CommonOptions, NodeOptions, OpenSettings, Supports } from '@blockyard/core';
import type { Bench } from './bench/bench.ts';

/** What `describe` and `test` of most runners have in common. */
export interface Runner {
  describe(name: string, body: () => void): void;
  test: RunnerTest;
}

export interface RunnerTest {
  (name: string, body: (context?: unknown) => Promise<void>): void;
  skip?(name: string, body: (context?: unknown) => Promise<void>): void;
}

/** One disk, made anew for every check. */
export interface Fixture {
  /** How it is opened; `driver` is the one under test, or a format or filter above or below it. */
  options: NodeOptions;
  /** Bytes that the disk must have. */
  size: number;
  /** What it must hold when opened; zeroes without it. Not changed by the suite. */
  content?: Uint8Array | undefined;
  /** Called when everything opened from it has been closed. */
  cleanup?(): void | Promise<void>;
}

/** What a driver can do: what its nodes say in `supports`, and two things that only its author knows. */
export interface Capabilities extends Supports {
  /** What is written is read back; false for drivers that throw it away. */
  store: boolean;
  /** What is written is there when the same options are opened again. */
  persist: boolean;
}

export interface ConformanceOptions {
  driver: BlockDriver<never> | BlockDriver;
  /** Other drivers that the fixture's options name. */
  drivers?: readonly (BlockDriver<never> | BlockDriver)[];
  /** Called for every check, and for every random sequence; no disk of an earlier fixture is open then. */
  fixture(): Fixture | Promise<Fixture>;
  /** What the driver can do; what is missing is false, but `store`, which is true where `write` is. */
  supports?: Partial<Capabilities>;
  /** Checks not to run, by name ('write/unaligned', or 'write/*'), each with the reason. */
  skip?: Readonly<Record<string, string>>;
  /** Name of the group of tests; the driver's without it. */
  name?: string;
  /** For images that name other files. */
  settings?: OpenSettings;
  /** Run everything a second time with a pass-through filter on top (default true). */
  passThrough?: boolean;
  /** Repeats a run of random requests; also taken from the variable CONFORMANCE_SEED. */
  seed?: number;
  /** Random sequences per check (default 20). */
  runs?: number;
  /** Milliseconds after which a check that has not settled fails (default 20 000). */
  timeout?: number;
}

export type Requirement = keyof Capabilities;

/** One check, as data: a test runner, a command or an editor runs it with `runCheck`. */
export interface Check {
  /** group/what */
  readonly name: string;
  /** What must hold, as a sentence. */
  readonly about: string;
  /** Without these it does not apply. */
  readonly requires: readonly Requirement[];
  /** Applies only to drivers without this. */
  readonly unless?: Requirement;
  /** The disk must have at least this many bytes. */
  readonly minSize?: number;
  /** Common options that the disk is opened with, over those of the fixture. */
  readonly open?: CommonOptions;
  run(bench: Bench): Promise<void>;
}
