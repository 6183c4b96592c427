import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Workspace } from '../../interop/qemu.ts';
import { type Kept, never } from '../guest/history.ts';
import { isRange, type Operation, place, type RangeOperation, scale } from '../guest/operations.ts';
import { fileNames } from '../setup/image.ts';
import type { Setup } from '../setup/setup.ts';
import type { Subject } from '../setup/subject.ts';

const { image } = fileNames;
let names = 0;

/** Does to a disk, by means of qemu-io and qemu-img, what a guest of ours does, and keeps the plain buffer up to date. */
export class RealGuest {
  disk: Uint8Array;
  snapshots: Kept[];
  readonly #space: Workspace;
  readonly #subject: Subject;
  readonly #setup: Setup;
  /** Written in one run of qemu-io, when something else comes. */
  #commands: string[] = [];
  /** Ranges that may hold something else than the buffer, and what. */
  #open: { offset: number; values: Uint8Array[] }[] = [];

  constructor(
    space: Workspace,
    subject: Subject,
    setup: Setup,
    disk: Uint8Array,
    snapshots: readonly Kept[],
  ) {
    this.#space = space;
    this.#subject = subject;
    this.#setup = setup;
    this.disk = disk;
    this.snapshots = [...snapshots];
  }

  perform(operation: Operation): void {
    if (isRange(operation)) this.#range(operation);
    else if (operation.kind === 'resize') this.#resize(operation.size);
    else if ('which' in operation) this.#snapshot(operation.kind, operation.which);
    else if (operation.kind === 'flush') this.#commands.push('flush');
    else this.end();
  }

  /** Does what waits, and takes over what the disk holds where it is not sure. */
  end(): void {
    if (this.#commands.length > 0) this.#io(this.#commands);
    this.#commands = [];
    if (this.#open.length === 0) return;
    const { length } = this.disk;
    this.#space.img('convert', '-f', 'qcow2', '-O', 'raw', image, 'out.raw');
    const found = readFileSync(this.#space.path('out.raw'));
    for (const { offset, values } of this.#open) {
      const size = values[0]?.length ?? 0;
      for (let i = 0; i < size; i++) {
        const at = offset + i;
        if (at >= length || found[at] === this.disk[at]) continue;
        if (!values.some((value) => value[i] === found[at]))
          throw new Error(`byte ${at} is ${found[at]} after the real discard`);
        this.disk[at] = found[at] as number;
      }
    }
    this.#open = [];
  }

  #range(operation: RangeOperation): void {
    const { kind, seed } = operation;
    const range = place(operation, this.disk.length, this.#subject.clusterSize);
    if (!range || kind === 'read') return;
    const { offset, length } = range;
    const pattern = (seed % 255) + 1;
    if (kind === 'discard' || kind === 'compressed') {
      this.end();
      if (kind === 'compressed') this.#compress(offset, pattern);
      else this.#discard(offset, length);
      return;
    }
    const zero = kind === 'zero' || kind === 'unmap';
    const how = { write: '-P', fua: '-f -P', zero: '-z', unmap: '-z -u' }[kind];
    this.#commands.push(`write ${how}${zero ? '' : ` ${pattern}`} ${offset} ${length}`);
    this.disk.fill(zero ? 0 : pattern, offset, offset + length);
  }

  #discard(offset: number, length: number): void {
    const behind = new Uint8Array(length);
    behind.set(this.#subject.backing.subarray(offset, offset + length));
    this.#open.push({ offset, values: [new Uint8Array(length), behind] });
    this.#commands.push(`discard ${offset} ${length}`);
    this.end();
  }

  /** A cluster at a time; where one is allocated QEMU refuses. */
  #compress(offset: number, pattern: number): void {
    const { clusterSize } = this.#subject;
    if (this.#setup.dataFile !== 'none' || offset + clusterSize > this.disk.length) return;
    this.#open.push({ offset, values: [new Uint8Array(clusterSize).fill(pattern)] });
    this.#io([`write -c -P ${pattern} ${offset} ${clusterSize}`], true);
    this.end();
  }

  #resize(size: number): void {
    this.end();
    const wanted = Math.max(1, Math.round((size / scale) * (this.#subject.size / 512) * 1.5)) * 512;
    if (
      !this.#img(
        ['resize', '-q', '-f', 'qcow2', '--shrink', image, String(wanted)],
        this.#setup.version === 2,
      )
    )
      return;
    const before = this.disk;
    this.disk = new Uint8Array(wanted);
    this.disk.set(before.subarray(0, wanted));
  }

  #snapshot(kind: 'snapshot' | 'apply' | 'delete', which: number): void {
    this.end();
    const { snapshots } = this;
    const one = snapshots[which % Math.max(1, snapshots.length)];
    if (kind === 'snapshot') {
      const name = `real-${++names}`;
      if (
        !this.#img(
          ['snapshot', '-q', '-c', name, image],
          this.#subject.mayRefuse('snapshot', snapshots.length),
        )
      )
        return;
      snapshots.push({ name, content: this.disk.slice(), created: { started: 0, ended: 0 }, deleted: never });
    } else if (one && kind === 'apply') {
      // Version 2 records no size of its own; QEMU refuses where the disk's has changed since.
      if (!this.#img(['snapshot', '-q', '-a', one.name, image], one.content.length !== this.disk.length))
        return;
      this.disk = one.content.slice();
    } else if (one) {
      this.#img(['snapshot', '-q', '-d', one.name, image], false);
      this.snapshots = snapshots.filter((other) => other !== one);
    }
  }

  #io(commands: readonly string[], mayFail = false): void {
    const args = ['-f', 'qcow2', '-d', 'unmap', ...commands.flatMap((command) => ['-c', command]), image];
    this.#run('qemu-io', args, mayFail);
  }

  #img(args: readonly string[], mayFail: boolean): boolean {
    return this.#run('qemu-img', args, mayFail);
  }

  #run(tool: string, args: readonly string[], mayFail: boolean): boolean {
    const { status, stdout, stderr } = spawnSync(tool, args, {
      cwd: this.#space.directory,
      encoding: 'utf8',
    });
    const failed = status !== 0 || /failed|error/i.test(stdout);
    if (failed && !mayFail)
      throw new Error(`${tool} ${args.join(' ')}: status ${status}, ${stdout}${stderr}`);
    return !failed;
  }
}
