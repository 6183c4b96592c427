import { fill, type IoData } from '@blockyard/iov-utils';
import { BlockNode } from '../block-node.ts';
import type { BlockDriver, OpenContext } from '../driver.ts';
import type { Extent } from '../extent.ts';
import type { BlockLimits } from '../limits.ts';

export interface NullOptions {
  /** Bytes (default 1 GiB). */
  size?: number;
  /** Reads give zeroes; without it the caller's memory is left as it was, to measure everything but the memory. */
  readZeroes?: boolean;
}

class NullNode extends BlockNode {
  readonly size: number;
  readonly #readZeroes: boolean;

  constructor(options: NullOptions, context: OpenContext) {
    const supports = {
      write: true,
      discard: true,
      writeZeroes: true,
      blockStatus: options.readZeroes ?? false,
      resize: false,
      fua: true,
      compress: false,
      copyRange: false,
    };
    super({ driver: { name: 'null', kind: 'protocol' }, context, supports });
    this.size = options.size ?? 2 ** 30;
    this.#readZeroes = options.readZeroes ?? false;
  }

  override describeOptions(): Record<string, unknown> {
    return { size: this.size, readZeroes: this.#readZeroes };
  }

  protected override _read(_offset: number, into: IoData): void {
    if (this.#readZeroes) fill(into, 0);
  }
  protected override _write(): void {}
  protected override _writeZeroes(): void {}
  protected override _discard(): void {}
  protected override _flush(): void {}
  protected override _blockStatus(offset: number, length: number): Extent {
    return { offset, length, data: false, zero: true, present: true, depth: 0, compressed: false };
  }
  protected override _refreshLimits(limits: BlockLimits): void {
    limits.minMemAlignment = 1;
  }
}

/** Takes every write and forgets it. */
export function nullDriver(): BlockDriver<NullOptions> {
  return {
    name: 'null',
    kind: 'protocol',
    help: 'takes every write and forgets it',
    options: {
      size: { type: 'size', help: 'bytes (default 1 GiB)' },
      readZeroes: { type: 'boolean', help: 'reads give zeroes (default: memory is left as it was)' },
    },
    open: async (options, context) => new NullNode(options, context),
  };
}
