import {
  type BlockNode,
  type CommonOptions,
  createRegistry,
  type Disk,
  type NodeOptions,
  passThrough,
  type Registry,
} from '@blockyard/core';
import { equal, NotApplicable, sameBytes } from '../expect.ts';
import type { Capabilities, ConformanceOptions, Fixture } from '../types.ts';
import { narrow } from './narrow.ts';
import { Random } from './random.ts';

/** How the driver's node is reached. */
export type Arrangement = 'direct' | 'pass-through';

const pieceBytes = 1 << 20;

/** Lets work that was put off happen. */
export const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

function registryOf(options: ConformanceOptions): Registry {
  const drivers = new Map<string, unknown>();
  for (const driver of [passThrough(), narrow(), ...(options.drivers ?? []), options.driver])
    drivers.set(driver.name, driver);
  // Every registry has it already.
  drivers.delete('raw');
  return createRegistry([...drivers.values()] as Parameters<typeof createRegistry>[0]);
}

/** A disk under test, and the plain buffer that says what it must hold. */
export class Bench {
  /** Opened as the check asked for. */
  disk!: Disk;
  /** What the disk must hold. */
  model: Uint8Array;
  readonly fixture: Fixture;
  readonly options: ConformanceOptions;
  readonly capabilities: Capabilities;
  readonly arrangement: Arrangement;
  readonly random: Random;
  readonly registry: Registry;
  readonly seed: number;
  readonly #opened: Disk[] = [];

  constructor(
    options: ConformanceOptions,
    capabilities: Capabilities,
    fixture: Fixture,
    arrangement: Arrangement,
    seed: number,
  ) {
    this.options = options;
    this.capabilities = capabilities;
    this.fixture = fixture;
    this.arrangement = arrangement;
    this.seed = seed;
    this.random = new Random(seed);
    this.registry = registryOf(options);
    this.model = fixture.content?.slice() ?? new Uint8Array(fixture.size);
  }

  get size(): number {
    return this.model.length;
  }

  /** The node of the driver under test, below the filter if there is one. */
  get node(): BlockNode {
    const { node } = this.disk;
    return this.arrangement === 'pass-through' ? (node.children.file as BlockNode) : node;
  }

  /** Whether the disk takes writes and gives them back. */
  get keeps(): boolean {
    return this.capabilities.store && !this.disk.readOnly;
  }

  /** Whether the disk takes writes. */
  get writable(): boolean {
    return this.capabilities.write && !this.disk.readOnly;
  }

  /** The options tree of the fixture, under the arrangement's filter. */
  tree(over: CommonOptions = {}): NodeOptions {
    const { options } = this.fixture;
    if (this.arrangement === 'direct') return { ...options, ...over };
    // Zeroes are to be detected once; what else is said of the disk holds for both nodes.
    const { detectZeroes: _, ...below } = over;
    const readOnly = options.readOnly ?? false;
    return { driver: 'pass-through', readOnly, ...over, file: { ...options, ...below } };
  }

  async open(options: NodeOptions = this.tree()): Promise<Disk> {
    const disk = await this.registry.open(options, this.options.settings);
    this.#opened.push(disk);
    return disk;
  }

  /** Puts bytes that are nowhere zero, and nowhere the same, all over a disk that can be written. */
  async fill(): Promise<void> {
    if (!this.keeps) return;
    await this.write(0, this.random.bytes(this.size));
  }

  async write(offset: number, data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; at += pieceBytes) {
      await this.disk.write(offset + at, data.subarray(at, at + pieceBytes));
    }
    this.model.set(data, offset);
  }

  /** Reads a range, all without arguments, and compares it with the model. */
  async verify(what: string, offset = 0, end = this.size): Promise<void> {
    equal(this.disk.size, this.size, `${what}: bytes of the disk`);
    for (let at = offset; at < end; at += pieceBytes) {
      const length = Math.min(pieceBytes, end - at);
      sameBytes(await this.disk.read(at, length), this.model.subarray(at, at + length), at, what);
    }
  }

  /** Ends the check where the driver's circumstances give it nothing to test. */
  needs(condition: boolean, what: string): void {
    if (!condition) throw new NotApplicable(what);
  }

  async end(): Promise<void> {
    try {
      for (const disk of this.#opened.reverse()) await disk.close();
    } finally {
      await this.fixture.cleanup?.();
    }
  }
}
