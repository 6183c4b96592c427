import { readFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { binding, reason } from './binding.ts';
import type { EngineName, EngineProbe, Probe } from './types.ts';

const ENGINES: readonly EngineName[] = ['io_uring', 'native', 'threads'];

function probed(why: string | undefined): EngineProbe {
  return why === undefined ? { available: true } : { available: false, reason: why };
}

function whyNoHugePages(): string | undefined {
  if (platform() !== 'linux') return 'transparent huge pages are a feature of Linux';
  try {
    const setting = readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8');
    return setting.includes('[never]') ? 'transparent huge pages are set to "never"' : undefined;
  } catch {
    return 'this kernel has no transparent huge pages';
  }
}

/** What this machine can do, and why not. Sets each engine up and tears it down again. */
export function probe(): Probe {
  const missing = binding === undefined ? `the native addon is not loaded: ${reason}` : undefined;
  const engine = (kind: EngineName) => probed(missing ?? binding?.probeEngine(kind));
  return {
    loaded: binding !== undefined,
    ...(reason === undefined ? {} : { reason }),
    platform: `${platform()}-${arch()}`,
    kernel: release(),
    pageSize: binding?.pageSize ?? (platform() === 'darwin' && arch() === 'arm64' ? 16384 : 4096),
    simd: binding?.simd ?? 'none',
    engines: Object.fromEntries(ENGINES.map((kind) => [kind, engine(kind)])) as Probe['engines'],
    hugePages: probed(missing ?? whyNoHugePages()),
    inflate: probed(missing ?? binding?.probeInflate()),
    zstd: probed(missing ?? binding?.probeZstd()),
  };
}
