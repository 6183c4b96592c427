import { deepStrictEqual } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliRegistry } from '../../src/registry.ts';
import { Random } from './random.ts';
import { run } from './run.ts';
import { noise } from './scratch.ts';

const KiB = 1 << 10;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Snapshot {
  name: string;
  /** Undefined where what is behind the image has changed since. */
  content: Buffer | undefined;
}

interface Layer {
  file: string;
  /** What it shows, and what is behind it shows when this one is taken away. */
  content: Buffer;
  snapshots: Snapshot[];
  bitmaps: string[];
  v2: boolean;
}

/** One image, and those behind it, in the hands of both tools; and the plain bytes that it must show. */
export class Turns {
  readonly directory: string;
  readonly random: Random;
  readonly log: string[] = [];
  readonly seed: number;
  readonly options: string;
  readonly extended: boolean;
  readonly clusterSize: number;
  chain: Layer[] = [];
  #names = 0;

  constructor(seed: number, directory: string) {
    this.directory = directory;
    this.seed = seed;
    this.random = new Random(seed);
    const { random } = this;
    this.extended = random.chance(20);
    this.clusterSize = random.pick(this.extended ? [16, 64] : [0.5, 4, 64]) * KiB;
    this.options = [
      `cluster_size=${this.clusterSize}`,
      `compression_type=${random.pick(['zlib', 'zstd'])}`,
      ...(this.extended ? ['extended_l2=on'] : []),
    ].join(',');
  }

  readonly #path = (name: string) => join(this.directory, name);

  get top(): Layer {
    return this.chain[0] as Layer;
  }
  get behind(): Layer | undefined {
    return this.chain[1];
  }

  name(ending = 'qcow2'): string {
    return `s${this.seed}-${++this.#names}.${ending}`;
  }

  /** The same words for one tool or the other. */
  async either(...argv: string[]): Promise<void> {
    await (this.random.chance(50) ? this.ours(...argv) : this.theirs(...argv));
  }

  /**
   * What qemu-img does not do is done with our tool. Of a disk that ends within a cluster it lets what was in the rest
   * of the cluster come to light, as a shrink to such a size leaves it there. One of version 2 with something behind it
   * it refuses to let grow.
   */
  async grow(layer: Layer, size: number, ...argv: string[]): Promise<void> {
    const { length } = layer.content;
    const odd = length % this.clusterSize !== 0 || (layer.v2 && layer !== this.chain.at(-1));
    await (size > length && odd ? this.ours(...argv) : this.either(...argv));
  }

  async ours(...argv: string[]): Promise<string> {
    this.log.push(`blockyard ${argv.join(' ')}`);
    const before = process.cwd();
    process.chdir(this.directory);
    try {
      const { code, out, err } = await run(argv);
      if (code !== 0) throw new Error(`ended with ${code}: ${out}${err}`);
      return out;
    } finally {
      process.chdir(before);
    }
  }

  theirs(...argv: string[]): string {
    this.log.push(`qemu-img ${argv.join(' ')}`);
    const { status, stdout, stderr } = spawnSync('qemu-img', argv, { cwd: this.directory, encoding: 'utf8' });
    if (status !== 0) throw new Error(`ended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  qemuIo(command: string): void {
    const { file } = this.top;
    this.log.push(`qemu-io -f qcow2 -c '${command}' ${file}`);
    execFileSync('qemu-io', ['-f', 'qcow2', '-d', 'unmap', '-c', command, file], { cwd: this.directory });
  }

  async node(work: (node: Awaited<ReturnType<ReturnType<typeof cliRegistry>['openNode']>>) => Promise<void>) {
    const file = { driver: 'file', filename: this.#path(this.top.file) };
    const options = { driver: 'qcow2', discard: 'unmap', file };
    const node = await cliRegistry().openNode(options as never, { references: 'same-directory' });
    await work(node).finally(() => node.close());
  }

  async start(): Promise<void> {
    const size = (1 + this.random.below(8)) * 256 * KiB;
    const file = this.name();
    await this.either('create', '-q', '-f', 'qcow2', '-o', this.options, file, String(size));
    this.chain = [{ file, content: Buffer.alloc(size), snapshots: [], bitmaps: [], v2: false }];
  }

  #range(): [offset: number, length: number] {
    const { length: size } = this.top.content;
    const offset = this.random.below(size / 512) * 512;
    const most = Math.min(size - offset, this.random.pick([4, 64, 300]) * KiB);
    return [offset, (1 + this.random.below(most / 512)) * 512];
  }

  readonly operations: Record<string, { weight: number; can?: () => boolean; do: () => Promise<void> }> = {
    write: {
      weight: 30,
      do: async () => {
        const [offset, length] = this.#range();
        const { content } = this.top;
        if (this.random.chance(50)) {
          const byte = 1 + this.random.below(255);
          this.qemuIo(`write -P ${byte} ${offset} ${length}`);
          content.fill(byte, offset, offset + length);
        } else {
          const bytes = noise(length, this.random.below(1e6));
          this.log.push(`our write ${offset} ${length} to ${this.top.file}`);
          await this.node(async (node) => void (await node.write(offset, bytes)));
          content.set(bytes, offset);
        }
      },
    },
    zero: {
      weight: 10,
      do: async () => {
        const [offset, length] = this.#range();
        const unmap = this.random.chance(50);
        if (this.random.chance(50)) this.qemuIo(`write -z ${unmap ? '-u ' : ''}${offset} ${length}`);
        else {
          this.log.push(`our zeroes ${offset} ${length} ${unmap} in ${this.top.file}`);
          await this.node(async (node) => void (await node.writeZeroes(offset, length, { mayUnmap: unmap })));
        }
        this.top.content.fill(0, offset, offset + length);
      },
    },
    snapshot: {
      weight: 10,
      can: () => this.top.snapshots.length < 4,
      do: async () => {
        const name = `n${++this.#names}`;
        await this.either('snapshot', '-q', '-c', name, this.top.file);
        this.top.snapshots.push({ name, content: Buffer.from(this.top.content) });
      },
    },
    apply: {
      weight: 6,
      // Neither tool applies one past bitmaps.
      can: () => this.top.bitmaps.length === 0 && this.top.snapshots.some(({ content }) => content),
      do: async () => {
        const { name, content } = this.random.pick(this.top.snapshots.filter((one) => one.content));
        await this.either('snapshot', '-q', '-a', name, this.top.file);
        this.top.content = Buffer.from(content as Buffer);
      },
    },
    forget: {
      weight: 5,
      can: () => this.top.snapshots.length > 0,
      do: async () => {
        const { name } = this.random.pick(this.top.snapshots);
        await this.either('snapshot', '-q', '-d', name, this.top.file);
        this.top.snapshots = this.top.snapshots.filter((one) => one.name !== name);
      },
    },
    overlay: {
      weight: 7,
      can: () => this.chain.length < 4,
      do: async () => {
        const { file: base, content } = this.top;
        const file = this.name();
        const size = this.random.chance(70)
          ? []
          : [String(Math.max(512, content.length + (this.random.below(5) - 2) * 64 * KiB))];
        await this.either(
          'create',
          '-q',
          '-f',
          'qcow2',
          '-o',
          this.options,
          '-b',
          base,
          '-F',
          'qcow2',
          file,
          ...size,
        );
        const shown = resized(content, size.length > 0 ? Number(size[0]) : content.length);
        this.chain.unshift({ file, content: shown, snapshots: [], bitmaps: [], v2: false });
      },
    },
    commit: {
      weight: 7,
      // One of version 2 with snapshots cannot grow.
      can: () => this.behind !== undefined && !(this.behind.v2 && this.behind.snapshots.length > 0),
      do: async () => {
        const { top } = this;
        const behind = this.behind as Layer;
        const base = this.chain[2];
        if (base && !(base.v2 && base.snapshots.length > 0) && this.random.chance(40)) {
          // What is between shows something else then, and is let go.
          await this.grow(base, top.content.length, 'commit', '-q', '-b', base.file, top.file);
          base.content = Buffer.concat([top.content, base.content.subarray(top.content.length)]);
          this.chain.splice(0, 2);
          return;
        }
        const drop = this.random.chance(50);
        await this.grow(behind, top.content.length, 'commit', '-q', ...(drop ? ['-d'] : []), top.file);
        const tail = behind.content.subarray(Math.min(top.content.length, behind.content.length));
        behind.content = Buffer.concat([top.content, tail]);
        forgetContents(top);
        if (drop) this.chain.shift();
      },
    },
    rebase: {
      weight: 7,
      can: () => this.behind !== undefined,
      do: async () => {
        const { file } = this.top;
        const further = this.chain[2];
        if (further && this.random.chance(60)) {
          await this.either('rebase', '-b', further.file, '-F', 'qcow2', file);
          this.chain.splice(1, 1);
        } else if (this.random.chance(50)) {
          await this.either('rebase', '-b', '', file);
          this.chain.length = 1;
        } else {
          // The same one under another name.
          const moved = this.name();
          const behind = this.behind as Layer;
          copyFileSync(this.#path(behind.file), this.#path(moved));
          await this.either('rebase', '-u', '-b', moved, '-F', 'qcow2', file);
          behind.file = moved;
          return;
        }
        forgetContents(this.top);
      },
    },
    resize: {
      weight: 6,
      can: () => !this.top.v2 || this.top.snapshots.length === 0,
      do: async () => {
        const { top } = this;
        const { length } = top.content;
        const shrink = this.random.chance(40) && top.snapshots.length === 0 && length > 512 * KiB;
        const by = (1 + this.random.below(600)) * 512;
        if (shrink && length - by < 64 * KiB) return;
        const size = length + (shrink ? -by : by);
        const change = [...(shrink ? ['--shrink'] : []), top.file, `${shrink ? '-' : '+'}${by}`];
        await this.grow(top, size, 'resize', '-q', ...change);
        top.content = resized(top.content, size);
      },
    },
    compress: {
      weight: 5,
      do: async () => {
        const { top, behind } = this;
        const file = this.name();
        const over = behind && this.random.chance(50) ? ['-B', behind.file, '-F', 'qcow2'] : [];
        const how = this.random.chance(70) ? ['-c'] : [];
        await this.either('convert', '-O', 'qcow2', ...how, '-o', this.options, ...over, top.file, file);
        const copy: Layer = { file, content: top.content, snapshots: [], bitmaps: [], v2: false };
        this.chain = over.length > 0 ? [copy, ...this.chain.slice(1)] : [copy];
      },
    },
    amend: {
      weight: 4,
      do: async () => {
        const { top } = this;
        const plain =
          !this.extended && this.options.includes('zlib') && top.snapshots.length + top.bitmaps.length === 0;
        if (plain && this.random.chance(40)) {
          const compat = top.v2 ? '1.1' : '0.10';
          if (!top.v2)
            await this.either('amend', '-q', '-o', 'lazy_refcounts=off,refcount_bits=16', top.file);
          await this.either('amend', '-q', '-o', `compat=${compat}`, top.file);
          top.v2 = !top.v2;
        } else if (!top.v2)
          await this.either(
            'amend',
            '-q',
            '-o',
            this.random.pick([
              'lazy_refcounts=on',
              'lazy_refcounts=off',
              'refcount_bits=32',
              'refcount_bits=64',
              'refcount_bits=16',
            ]),
            top.file,
          );
      },
    },
    bitmap: {
      weight: 4,
      can: () => !this.top.v2,
      do: async () => {
        const { top } = this;
        if (top.bitmaps.length > 0 && this.random.chance(50)) {
          await this.either('bitmap', '--remove', top.file, top.bitmaps.pop() as string);
          return;
        }
        const name = `b${++this.#names}`;
        await this.either('bitmap', '--add', '-g', '64k', top.file, name);
        top.bitmaps.push(name);
      },
    },
  };

  async step(): Promise<void> {
    const able = Object.values(this.operations).filter(({ can }) => can?.() ?? true);
    let at = this.random.below(able.reduce((sum, { weight }) => sum + weight, 0));
    const chosen = able.find(({ weight }) => (at -= weight) < 0);
    await chosen?.do();
  }

  /** Both tools find the image sound, and the bytes that it must show. */
  async verify(whole: boolean): Promise<void> {
    const { file, content, snapshots, bitmaps } = this.top;
    this.theirs('check', '-q', file);
    await this.ours('check', file);
    const { digest, size } = JSON.parse(await this.ours('checksum', '--json', file));
    deepStrictEqual([size, digest], [content.length, sha256(content)]);
    if (!whole) return;
    writeFileSync(this.#path('model.raw'), content);
    this.theirs('compare', '-q', '-f', 'raw', '-F', 'qcow2', 'model.raw', file);
    const info = JSON.parse(this.theirs('info', '--output=json', file));
    deepStrictEqual(info['virtual-size'], content.length);
    const names = (list: { name: string }[] | undefined) => (list ?? []).map(({ name }) => name).sort();
    deepStrictEqual(names(info.snapshots), names(snapshots));
    deepStrictEqual(names(info['format-specific'].data.bitmaps), [...bitmaps].sort());
    for (const { name, content: old } of snapshots.filter((one) => one.content)) {
      const told = JSON.parse(await this.ours('checksum', '--json', '-l', name, file));
      deepStrictEqual([name, told.digest], [name, sha256(old as Buffer)]);
    }
    if (this.chain.length === 1) return;
    const layer = this.random.pick(this.chain.slice(1));
    const told = JSON.parse(await this.ours('checksum', '--json', layer.file));
    deepStrictEqual([layer.file, told.digest], [layer.file, sha256(layer.content)]);
  }
}

function resized(content: Buffer, size: number): Buffer {
  return Buffer.concat([content.subarray(0, size), Buffer.alloc(Math.max(0, size - content.length))]);
}

/** Snapshots show what is behind the image, which has changed. */
function forgetContents(layer: Layer): void {
  for (const snapshot of layer.snapshots) snapshot.content = undefined;
}
