import { addressOf, createSlab } from './arena.ts';
import type { Binding } from './binding.ts';
import { checkAlignment, checkOffset } from './check.ts';
import { Pool } from './pool.ts';
import type { AlignedMemory, Buffers } from './types.ts';

const HUGE_PAGE = 2 << 20;
/** A larger alignment than this is not pooled. */
const MAX_POOLED_ALIGNMENT = HUGE_PAGE;

export function alignedMemory(native: Binding): AlignedMemory {
  const pool = new Pool((view) => native.adviseHugePages(view));
  const unpooled = new Set<Uint8Array>();

  const create: AlignedMemory['create'] = (length, alignment, options = {}) => {
    checkOffset('length', length);
    checkAlignment(alignment);
    const { exactly = false, hugePages = false } = options;
    const step = exactly ? alignment * 2 : hugePages ? Math.max(alignment, HUGE_PAGE) : alignment;
    const { buffer, address } = createSlab(length + step + (exactly ? alignment : 0));
    const start = (step - (address % step)) % step;
    const view = new Uint8Array(buffer, exactly ? start + alignment : start, length);
    if (hugePages) native.adviseHugePages(view);
    return view;
  };

  const multiple = (view: Uint8Array, alignment: number): boolean =>
    view.byteLength % alignment === 0 && addressOf(view) % alignment === 0;

  return {
    create,

    allocate(length, alignment) {
      checkOffset('length', length);
      checkAlignment(alignment);
      if (alignment <= MAX_POOLED_ALIGNMENT) {
        try {
          return pool.allocate(length, alignment);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          // No memory for a slab; there may be enough for what was asked for.
          pool.shrink();
        }
      }
      const view = create(length, alignment);
      unpooled.add(view);
      return view;
    },

    release(view) {
      if (!unpooled.delete(view)) pool.release(view);
    },

    isAligned(data: Buffers, alignment) {
      if (data instanceof Uint8Array) return multiple(data, alignment);
      for (const view of data) if (!multiple(view, alignment)) return false;
      return true;
    },

    get stats() {
      let { lent, lentBytes, slabBytes } = pool.stats;
      for (const view of unpooled) {
        lent++;
        lentBytes += view.byteLength;
        slabBytes += view.buffer.byteLength;
      }
      return { lent, lentBytes, slabBytes };
    },
  };
}
