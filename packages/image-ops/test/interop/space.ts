import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlockDriver, type BlockNode, createRegistry } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';
import { afterAll, afterEach, describe } from 'vitest';

const missing = ['qemu-img', 'qemu-io'].filter((tool) => spawnSync(tool, ['--version']).error);

if (missing.length > 0) {
  const text = `interop tests need ${missing.join(' and ')} (Debian: qemu-utils)`;
  if (process.env.CI) throw new Error(text);
  console.warn(`skipped: ${text}`);
}

/** Tests against the real QEMU: skipped where it is missing, a failure there in CI. */
export const interop: (name: string, work: () => void) => void = describe.skipIf(missing.length > 0);

export interface Opening {
  backing?: BlockNode;
  readOnly?: boolean;
}

/** A directory of images, and the nodes that a test has opened in it. */
export class Space {
  readonly directory = mkdtempSync(join(tmpdir(), 'blockyard-image-ops-'));
  readonly registry = createRegistry([rawPosix(), qcow2()] as unknown as BlockDriver[]);
  readonly #open: BlockNode[] = [];

  constructor() {
    afterEach(() => this.close());
    afterAll(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  img(...args: string[]): string {
    return execFileSync('qemu-img', args, {
      cwd: this.directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  io(name: string, ...commands: string[]): void {
    execFileSync('qemu-io', [...commands.flatMap((command) => ['-c', command]), name], {
      cwd: this.directory,
    });
  }

  copy(from: string, to: string): void {
    copyFileSync(this.path(from), this.path(to));
  }

  create(name: string, size: number | undefined, backing?: string, options?: string): void {
    const behind = backing ? ['-b', backing, '-F', backing.endsWith('.raw') ? 'raw' : 'qcow2'] : [];
    const more = options ? ['-o', options] : [];
    this.img(
      'create',
      '-q',
      '-f',
      'qcow2',
      ...behind,
      ...more,
      name,
      ...(size === undefined ? [] : [String(size)]),
    );
  }

  write(name: string, bytes: Uint8Array): void {
    writeFileSync(this.path(name), bytes);
  }

  bytes(name: string): number {
    return statSync(this.path(name)).size;
  }

  async open(name: string, { readOnly = false, ...more }: Opening = {}): Promise<BlockNode> {
    const file = { driver: 'file', filename: this.path(name) };
    const format = name.endsWith('.raw') ? 'raw' : 'qcow2';
    const node = await this.registry.openNode(
      { driver: format, file, readOnly, discard: 'unmap', ...more },
      { references: 'same-directory' },
    );
    this.#open.push(node);
    return node;
  }

  /** Closes all that is open, the last first: QEMU's locks are ours too. */
  async close(): Promise<void> {
    for (const node of this.#open.splice(0).reverse()) await node.close();
  }

  /** QEMU finds nothing wrong, not even leaks. */
  expectSound(...names: string[]): void {
    for (const name of names) {
      const { status, stdout, stderr } = spawnSync('qemu-img', ['check', name], {
        cwd: this.directory,
        encoding: 'utf8',
      });
      deepStrictEqual([status, stderr, stdout.split('\n')[0]], [0, '', 'No errors were found on the image.']);
    }
  }

  /** QEMU reads the same from both, and both are equally large. */
  expectIdentical(a: string, b: string): void {
    const format = (name: string) => (name.endsWith('.raw') ? 'raw' : 'qcow2');
    const args = ['compare', '-f', format(a), '-F', format(b), a, b];
    const { stdout, stderr } = spawnSync('qemu-img', args, { cwd: this.directory, encoding: 'utf8' });
    strictEqual(stdout + stderr, 'Images are identical.\n');
  }

  /** Bytes of the disk that are in the image's own layer, with data. */
  ownBytes(name: string): number {
    const map = JSON.parse(this.img('map', '--output=json', name)) as {
      depth: number;
      data: boolean;
      length: number;
    }[];
    return map.filter(({ depth, data }) => depth === 0 && data).reduce((sum, { length }) => sum + length, 0);
  }
}
