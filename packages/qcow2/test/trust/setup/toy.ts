import {
  type BlockDriver,
  BlockNode,
  type ChildOptions,
  type OpenContext,
  readOnlySupports,
} from '@blockyard/core';
import { byteLength, copyFrom, flatten, type IoData } from '@blockyard/iov-utils';
import { RecordedFile } from '../machine/machine.ts';
import type { Subject } from './subject.ts';

const cluster = 4096;

/** How the toy goes wrong; each is a mistake that a real format can make. */
export type Flaw =
  | 'none'
  | 'mapping before data'
  | 'no second flush'
  | 'frees too early'
  | 'loses writes over its middle'
  | 'forgets errors'
  | 'copies without waiting';

/**
 * The smallest format with a mapping: a byte per cluster of the disk, then clusters. Every write goes to another cluster,
 * and a flush makes the mapping durable; whole, in one sector.
 */
class ToyNode extends BlockNode {
  readonly #file: BlockNode;
  readonly #flaw: Flaw;
  readonly #map = new Uint8Array(512);
  #stored = new Set<number>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(file: BlockNode, flaw: Flaw, context: OpenContext) {
    super({
      driver: { name: 'toy', kind: 'format' },
      context,
      supports: { ...readOnlySupports, write: true },
      children: { file },
    });
    this.#file = file;
    this.#flaw = flaw;
  }

  async load(): Promise<this> {
    await this.#file.read(0, this.#map);
    this.#stored = new Set(this.#map);
    return this;
  }

  get size(): number {
    return 20 * cluster;
  }

  protected override _read(offset: number, into: IoData): Promise<void> {
    return this.#alone(async () => {
      for (let done = 0; done < byteLength(into); ) {
        const at = offset + done;
        const length = Math.min(cluster - (at % cluster), byteLength(into) - done);
        const whole = await this.#cluster(Math.floor(at / cluster));
        copyFrom(into, whole.subarray(at % cluster, (at % cluster) + length), done);
        done += length;
      }
    });
  }

  protected override _write(offset: number, from: IoData): Promise<void> {
    const bytes = flatten(from);
    return this.#alone(async () => {
      for (let done = 0; done < bytes.length; ) {
        const at = offset + done;
        const length = Math.min(cluster - (at % cluster), bytes.length - done);
        const index = Math.floor(at / cluster);
        const whole = await this.#cluster(index);
        if (this.#flaw !== 'loses writes over its middle' || at % cluster !== 0 || index !== 10)
          whole.set(bytes.subarray(done, done + length), at % cluster);
        const place = await this.#free();
        const work = this.#file.write(place * cluster, whole);
        if (this.#flaw === 'forgets errors') await Promise.resolve(work).catch(() => {});
        else await work;
        this.#map[index] = place;
        if (this.#flaw === 'mapping before data') await this.#file.write(0, this.#map.slice());
        done += length;
      }
    });
  }

  protected override _flush(): Promise<void> {
    return this.#alone(() => this.#commit());
  }

  async #commit(): Promise<void> {
    await this.#file.flush();
    await this.#file.write(0, this.#map.slice());
    if (this.#flaw !== 'no second flush') await this.#file.flush();
    this.#stored = new Set(this.#map);
  }

  /** A cluster that neither the mapping in memory nor the one in the file needs. */
  async #free(): Promise<number> {
    for (let place = 1; place < 30; place++) {
      const needed = this.#flaw !== 'frees too early' && this.#stored.has(place);
      if (!needed && !this.#map.includes(place)) return place;
    }
    await this.#commit();
    return await this.#free();
  }

  async #cluster(index: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(cluster);
    const place = this.#map[index] as number;
    if (place > 0) await this.#file.read(place * cluster, bytes);
    return bytes;
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#flaw === 'copies without waiting') return work();
    const mine = this.#queue.then(work);
    this.#queue = mine.catch(() => {});
    return mine;
  }
}

const toyDriver = (flaw: Flaw): BlockDriver<{ file: ChildOptions }> => ({
  name: 'toy',
  kind: 'format',
  help: 'for tests of the tests',
  options: { file: { type: 'node', required: true, help: 'the node below' } },
  open: async (options, context) =>
    await new ToyNode(await context.openChild('file', options.file), flaw, context).load(),
});

export const toy = (flaw: Flaw): Subject => ({
  name: `toy, flaw: ${flaw}`,
  drivers: [toyDriver(flaw) as unknown as BlockDriver],
  image: 'disk',
  clusterSize: cluster,
  size: 20 * cluster,
  backing: new Uint8Array(0),
  mayRefuse: () => true,
  async make(machine) {
    const file = new RecordedFile();
    file.live.resize(31 * cluster);
    machine.files.set('disk', file);
  },
  tree: (below, options = {}) => ({ driver: 'toy', ...options, file: below('disk') }),
});
