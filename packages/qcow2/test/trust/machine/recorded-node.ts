import { alignDown, BlockNode, type OpenContext, type Operation, readOnlySupports } from '@blockyard/core';
import { byteLength, copyFrom, equals, flatten, type IoData } from '@blockyard/iov-utils';
import { type Change, makePart, sectorBytes } from './change.ts';
import type { Machine, RecordedFile } from './machine.ts';

/** An open file of a machine. */
export class RecordedNode extends BlockNode {
  readonly #machine: Machine;
  readonly #name: string;
  readonly #file: RecordedFile;

  constructor(machine: Machine, name: string, file: RecordedFile, context: OpenContext) {
    super({
      driver: machine.driver,
      context,
      supports: { ...readOnlySupports, write: true, writeZeroes: true, discard: true, resize: true },
      path: name,
      location: { directory: '/', identity: `recorded:${name}` },
    });
    this.#machine = machine;
    this.#name = name;
    this.#file = file;
  }

  get size(): number {
    return this.#file.live.size;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    const length = byteLength(into);
    await this.#request('read', offset, length);
    copyFrom(into, this.#file.live.view(offset, offset + length));
  }

  protected override async _write(offset: number, from: IoData): Promise<void> {
    const bytes = flatten(from).slice();
    await this.#change('write', { kind: 'write', offset, length: bytes.length, bytes });
    // A device may take the bytes at any time until it acknowledges them.
    if (!equals(from, bytes)) {
      this.#machine.complaints.push(
        `the memory of a write of ${bytes.length} bytes at ${offset} of ${this.#name} was changed while it was in flight`,
      );
    }
  }

  protected override _writeZeroes(offset: number, length: number): Promise<void> {
    return this.#change('writeZeroes', { kind: 'zero', offset, length });
  }

  protected override _discard(offset: number, length: number): Promise<void> {
    return this.#change('discard', { kind: 'discard', offset, length });
  }

  protected override _truncate(size: number): Promise<void> {
    const kind = size < this.size ? 'shrink' : 'grow';
    return this.#change('truncate', { kind, offset: size, length: 0 });
  }

  protected override async _flush(): Promise<void> {
    const started = this.#machine.tick();
    await this.#request('flush', 0, 0);
    if (this.#machine.honest()) this.#file.flushes.push({ started, ended: this.#machine.tick() });
  }

  async #change(op: Operation, change: Omit<Change, 'started' | 'ended'>): Promise<void> {
    const started = this.#machine.tick();
    try {
      await this.#request(op, change.offset, change.length);
    } catch (error) {
      this.#half({ ...change, started, ended: started });
      throw error;
    }
    this.#file.make({ ...change, started, ended: this.#machine.tick() }, this.#machine.recording);
  }

  /** A write that failed may have come some way. */
  #half(change: Change): void {
    if (change.kind !== 'write' && change.kind !== 'zero') return;
    const end = alignDown(change.offset + this.#machine.random.below(change.length + 1), sectorBytes);
    if (end > change.offset && end <= this.size) makePart(this.#file.live, change, change.offset, end);
  }

  async #request(op: Operation, offset: number, length: number): Promise<void> {
    await this.#machine.wait();
    this.#machine.fault?.(this.#name, op, offset, length);
  }
}
