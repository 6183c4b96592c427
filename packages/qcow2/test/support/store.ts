import {
  type BlockDriver,
  BlockNode,
  createRegistry,
  type Extent,
  type OpenContext,
  passThrough,
  readOnlySupports,
} from '@blockyard/core';
import { byteLength, copyFrom, type IoData } from '@blockyard/iov-utils';
import { qcow2 } from '../../src/index.ts';

/** A request that reached the store. */
export interface StoreRead {
  name: string;
  offset: number;
  length: number;
  into: IoData;
}

class StoreNode extends BlockNode {
  readonly #store: Store;
  readonly #bytes: Uint8Array;
  readonly #key: string;

  constructor(store: Store, name: string, context: OpenContext) {
    const location = { directory: '/', identity: `store:${name}` };
    super({
      driver: store.driver,
      context,
      supports: { ...readOnlySupports, blockStatus: true },
      path: name,
      location,
    });
    this.#store = store;
    this.#key = name;
    this.#bytes = store.files.get(name) as Uint8Array;
  }

  get size(): number {
    return this.#bytes.length;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    const length = byteLength(into);
    this.#store.reads.push({ name: this.#key, offset, length, into });
    this.#store.inFlight++;
    this.#store.mostInFlight = Math.max(this.#store.mostInFlight, this.#store.inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    this.#store.inFlight--;
    if (
      this.#store.failAt !== undefined &&
      this.#store.failAt >= offset &&
      this.#store.failAt < offset + length
    ) {
      throw Object.assign(new Error('made to fail'), { code: 'EIO' });
    }
    copyFrom(into, this.#bytes.subarray(offset, offset + length));
  }

  protected override _blockStatus(offset: number, length: number): Extent {
    this.#store.statuses++;
    const own = { offset, length, data: true, zero: false, present: true, depth: 0, compressed: false };
    return { ...own, hostOffset: offset, hostNode: this };
  }

  protected override _close(): void {
    this.#store.open--;
  }
}

/** Named files in memory behind a protocol driver that waits, counts, and can be named by images. */
export class Store {
  readonly files: Map<string, Uint8Array>;
  readonly reads: StoreRead[] = [];
  statuses = 0;
  open = 0;
  inFlight = 0;
  mostInFlight = 0;
  /** A read of this byte fails. */
  failAt: number | undefined;
  readonly driver: BlockDriver<{ name: string }>;
  readonly registry;

  constructor(files: Record<string, Uint8Array>) {
    this.files = new Map(Object.entries(files));
    this.driver = {
      name: 'store',
      kind: 'protocol',
      help: 'named files in memory',
      schemes: ['store'],
      options: { name: { type: 'string', required: true, help: 'which' } },
      open: async ({ name }, context) => {
        if (!this.files.has(name)) throw Object.assign(new Error(`no file ${name}`), { code: 'ENOENT' });
        this.open++;
        return new StoreNode(this, name, context);
      },
      locate: async (name) => ({
        options: { driver: 'store', name: name.replace(/^store:\/\//, '') },
        location: { directory: '/', identity: `store:${name.replace(/^store:\/\//, '')}` },
      }),
    };
    this.registry = createRegistry([this.driver, qcow2(), passThrough()] as unknown as BlockDriver[]);
  }

  node(name: string, options: Record<string, unknown> = {}, settings = {}) {
    const file = { driver: 'store', name };
    return this.registry.openNode({ driver: 'qcow2', readOnly: true, file, ...options }, settings);
  }

  disk(name: string, options: Record<string, unknown> = {}, settings = {}) {
    const file = { driver: 'store', name };
    return this.registry.open({ driver: 'qcow2', readOnly: true, file, ...options }, settings);
  }
}
