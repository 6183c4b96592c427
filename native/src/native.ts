import { binding, reason } from './binding.ts';
import { deflateEncoder } from './deflate.ts';
import { openBestEngine, openEngine } from './engine.ts';
import { fileCalls } from './files.ts';
import { zlibInflate } from './inflate.ts';
import { alignedMemory } from './memory.ts';
import type { Native } from './types.ts';
import { zeroScan } from './zero.ts';
import { systemZstd } from './zstd.ts';

function create(): Native | undefined {
  if (binding === undefined) return undefined;
  const own = binding;
  let inflate: Native['inflate'] | null = null;
  let zstd: Native['zstd'] | null = null;
  return {
    files: fileCalls(own),
    memory: alignedMemory(own),
    engine: (kind, options) =>
      kind === 'auto' ? openBestEngine(own, options?.direct ?? false) : openEngine(own, kind),
    ...zeroScan(own),
    deflate: deflateEncoder(own),
    get inflate() {
      if (inflate === null) inflate = zlibInflate(own);
      return inflate;
    },
    get zstd() {
      if (zstd === null) zstd = systemZstd(own);
      return zstd;
    },
  };
}

/** Everything the addon gives, or undefined where it could not be loaded (`loadFailure` says why). */
export const native: Native | undefined = create();

/** Why there is no `native`; undefined when it is loaded. */
export function loadFailure(): string | undefined {
  return reason;
}
