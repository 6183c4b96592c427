import {
  type BlockDriver,
  BlockNode,
  createRegistry,
  type OpenContext,
  type Operation,
  readOnlySupports,
  type Supports,
} from '@blockyard/core';
import { byteLength, copyFrom, copyTo, type IoData } from '@blockyard/iov-utils';
import { type Qcow2Options, qcow2 } from '../../src/index.ts';

type Gate = (op: Operation, offset: number, length: number) => Promise<void> | void;

class GatedNode extends BlockNode {
  readonly #file: GatedFile;

  constructor(file: GatedFile, context: OpenContext) {
    super({ driver: file.driver, context, supports: { ...readOnlySupports, ...file.supports } });
    this.#file = file;
  }

  get size(): number {
    return this.#file.bytes.length;
  }

  protected override async _read(offset: number, into: IoData): Promise<void> {
    await this.#file.gate('read', offset, byteLength(into));
    copyFrom(into, this.#file.bytes.subarray(offset, offset + byteLength(into)));
  }

  protected override async _write(offset: number, from: IoData): Promise<void> {
    const bytes = new Uint8Array(byteLength(from));
    copyTo(from, bytes);
    await this.#file.gate('write', offset, bytes.length);
    this.#file.bytes.set(bytes, offset);
  }

  protected override async _discard(offset: number, length: number): Promise<void> {
    await this.#file.gate('discard', offset, length);
    this.#file.bytes.fill(0, offset, offset + length);
  }

  protected override async _flush(): Promise<void> {
    await this.#file.gate('flush', 0, 0);
  }

  protected override async _truncate(size: number): Promise<void> {
    await this.#file.gate('truncate', size, 0);
    const bytes = new Uint8Array(size);
    bytes.set(this.#file.bytes.subarray(0, size));
    this.#file.bytes = bytes;
  }
}

/** A file in memory that lets a test hold back its requests, or fail them. */
export class GatedFile {
  bytes: Uint8Array;
  readonly supports: Partial<Supports>;
  /** What happens before a request takes effect. */
  gate: Gate = () => {};
  readonly driver: BlockDriver = {
    name: 'gated',
    kind: 'protocol',
    help: 'a file in memory that waits',
    options: {},
    open: async (_options, context) => new GatedNode(this, context),
  };

  constructor(image: Uint8Array, supports: Partial<Supports> = {}) {
    this.bytes = image.slice();
    this.supports = { write: true, discard: true, resize: true, ...supports };
  }

  /** The image in it, to be written. */
  open(options: Partial<Qcow2Options> & Record<string, unknown> = {}): Promise<BlockNode> {
    const registry = createRegistry([this.driver, qcow2()] as unknown as BlockDriver[]);
    return registry.openNode({
      driver: 'qcow2',
      readOnly: false,
      discard: 'unmap',
      ...options,
      file: { driver: 'gated' },
    });
  }
}

/** Lets everything that waits for nothing but other promises go on. */
export const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

export const failure = (): Error => Object.assign(new Error('made to fail'), { code: 'EIO' });

export async function readBytes(node: BlockNode, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  await node.read(offset, bytes);
  return bytes;
}
