import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegistry, type Disk, type NodeOptions, type Registry } from '@blockyard/core';
import { type EngineName, loadFailure, native, probe } from '@blockyard/native';
import { afterAll, describe, expect } from 'vitest';
import { rawPosix } from '../src/index.ts';
import type { HostChoice } from '../src/select-host.ts';

/** Where tests put their files: a disk with direct I/O, not the tmpfs that /tmp may be. */
const base = process.env.BLOCKYARD_TEST_DIR ?? tmpdir();

/** A directory that goes with the test file. */
export async function scratch(): Promise<(name: string) => string> {
  const directory = await mkdtemp(join(base, 'blockyard-raw-posix-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return (name) => join(directory, name);
}

export interface Case {
  readonly name: string;
  readonly host: HostChoice;
  readonly aio: EngineName;
  readonly direct: boolean;
  /** Why it cannot run here. */
  readonly skip: string | undefined;
  readonly registry: Registry;
  open(filename: string, options?: Partial<NodeOptions>): Promise<Disk>;
}

function makeCase(host: HostChoice, aio: EngineName, direct: boolean): Case {
  const registry = createRegistry([rawPosix({ host })]);
  const missing = host === 'native' && !native ? `no native addon: ${loadFailure()}` : undefined;
  const engines = probe().engines;
  const noEngine =
    host === 'native' && !engines[aio].available ? (engines[aio].reason ?? 'no such engine') : undefined;
  return {
    name: `${host} ${aio} ${direct ? 'direct' : 'buffered'}`,
    host,
    aio,
    direct,
    skip: missing ?? noEngine,
    registry,
    open: (filename, options = {}) =>
      registry.open({ driver: 'file', filename, aio, ...options, cache: { direct, ...options.cache } }),
  };
}

/** Every host, engine and way of caching. Linux AIO is for direct I/O only. */
export const cases: readonly Case[] = [
  makeCase('node:fs', 'threads', false),
  makeCase('node:fs', 'threads', true),
  makeCase('native', 'threads', false),
  makeCase('native', 'threads', true),
  makeCase('native', 'io_uring', false),
  makeCase('native', 'io_uring', true),
  makeCase('native', 'native', true),
];

/** Runs the suite for every case; what cannot run is skipped by name, with the reason. */
export function describeCases(
  title: string,
  which: (one: Case) => boolean,
  suite: (one: Case) => void,
): void {
  for (const one of cases.filter(which)) {
    describe.skipIf(one.skip !== undefined)(`${title}: ${one.name}${one.skip ? ` (${one.skip})` : ''}`, () =>
      suite(one),
    );
  }
}

export const isRoot = process.getuid?.() === 0;

/** Why tests that need the tool cannot run; under CI a missing tool is a failure. */
export function missingTool(name: string): string | undefined {
  if (spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined) return undefined;
  if (process.env.CI) throw new Error(`${name} is not installed, and CI demands it`);
  return `${name} is not installed`;
}

export const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Bytes that differ everywhere, so that a shifted block shows. */
export function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = (state >>> 24) | 1;
  }
  return bytes;
}

/** Numbers that look random and are the same in every run. */
export function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Equal to the byte; `toEqual` on a megabyte takes seconds. */
export function same(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(actual, expected) === 0) return;
  expect(actual.length).toBe(expected.length);
  const first = actual.findIndex((byte, i) => byte !== expected[i]);
  expect.fail(`byte ${first} is ${actual[first]} and should be ${expected[first]}`);
}
