import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlockDriver, createRegistry, type Disk } from '@blockyard/core';
import { rawPosix } from '@blockyard/raw-posix';
import { afterAll, describe } from 'vitest';
import { qcow2 } from '../../src/index.ts';

const missing = ['qemu-img', 'qemu-io'].filter((tool) => {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
});

if (missing.length > 0) {
  const text = `interop tests need ${missing.join(' and ')} (Debian: qemu-utils)`;
  if (process.env.CI) throw new Error(text);
  console.warn(`skipped: ${text}`);
}

/** Tests against the real QEMU: skipped where it is missing, a failure there in CI. */
export const interop: (name: string, work: () => void) => void = describe.skipIf(missing.length > 0);

/** The disk that an extent map of `qemu-img map` tells, in the fields that every version prints. */
export interface MapEntry {
  start: number;
  length: number;
  depth: number;
  present: boolean;
  zero: boolean;
  data: boolean;
  offset?: number;
}

export class Workspace {
  readonly directory = mkdtempSync(join(tmpdir(), 'blockyard-qcow2-'));
  readonly registry = createRegistry([rawPosix(), qcow2()] as unknown as BlockDriver[]);

  constructor() {
    afterAll(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  img(...args: string[]): string {
    return execFileSync('qemu-img', args, { cwd: this.directory, encoding: 'utf8', maxBuffer: 1 << 28 });
  }

  create(name: string, size: number | string, options: string, ...more: string[]): void {
    this.img(
      'create',
      '-q',
      '-f',
      'qcow2',
      ...(options ? ['-o', options] : []),
      ...more,
      name,
      ...(size === '' ? [] : [String(size)]),
    );
  }

  io(name: string, commands: readonly string[], ...more: string[]): void {
    execFileSync(
      'qemu-io',
      [...more, ...commands.flatMap((command) => ['-c', command]), ...(name ? [name] : [])],
      {
        cwd: this.directory,
        encoding: 'utf8',
      },
    );
  }

  map(name: string): MapEntry[] {
    return joined(JSON.parse(this.img('map', '--output=json', name)) as MapEntry[]);
  }

  open(name: string, options: Record<string, unknown> = {}): Promise<Disk> {
    const file = { driver: 'file', filename: this.path(name) };
    return this.registry.open(
      { driver: 'qcow2', readOnly: true, file, ...options },
      { references: 'same-directory', probe: true },
    );
  }

  async mapOf(disk: Disk): Promise<MapEntry[]> {
    const found: MapEntry[] = [];
    for await (const { offset, length, depth, present, zero, data, hostOffset } of disk.extents()) {
      const place = hostOffset === undefined ? {} : { offset: hostOffset };
      found.push({ start: offset, length, depth, present, zero, data, ...place });
    }
    return joined(found);
  }
}

/**
 * Joins entries that go on with one another, as both sides may cut where they like. QEMU gives the holes of a raw
 * backing file a place, and an empty disk an entry without bytes: neither is compared.
 */
export function joined(entries: readonly MapEntry[]): MapEntry[] {
  const found: MapEntry[] = [];
  for (const { start, length, depth, present, zero, data, ...rest } of entries) {
    if (length === 0) continue;
    const offset = depth > 0 && present && !data ? undefined : rest.offset;
    const last = found.at(-1);
    const goesOn =
      last &&
      last.start + last.length === start &&
      last.depth === depth &&
      last.present === present &&
      last.zero === zero &&
      last.data === data &&
      (last.offset === undefined ? offset === undefined : offset === last.offset + last.length);
    if (goesOn) last.length += length;
    else
      found.push({ start, length, depth, present, zero, data, ...(offset === undefined ? {} : { offset }) });
  }
  return found;
}
