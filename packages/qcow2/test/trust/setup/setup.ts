import { Random } from '../random.ts';

/** One point of the option matrix. */
export interface Setup {
  version: 2 | 3;
  clusterSize: number;
  refcountBits: number;
  extendedL2: boolean;
  lazyRefcounts: boolean;
  compressionType: 'zlib' | 'zstd';
  dataFile: 'none' | 'kept' | 'raw';
  backing: 'none' | 'short' | 'same' | 'long';
  /** Bytes of the disk. */
  size: number;
  discard: 'ignore' | 'unmap';
  discardNoUnref: boolean;
  detectZeroes: 'off' | 'on' | 'unmap';
  /** Bytes; so few that tables leave memory while they are in use, or the default. */
  cacheSize: number | undefined;
  overlapCheck: 'none' | 'constant' | 'cached' | 'all';
}

const clusterSizes = Array.from({ length: 13 }, (_, i) => 512 << i);

/** Large clusters take long: they are drawn less often. */
const clusterWeights = [6, 3, 2, 4, 2, 4, 2, 6, 2, 1, 1, 1, 1];

export function drawSetup(seed: number): Setup {
  const random = new Random(seed);
  const version = random.chance(0.15) ? 2 : 3;
  const v3 = version === 3;
  const clusterSize = random.pick(
    clusterSizes.flatMap((size, i) => Array<number>(clusterWeights[i] as number).fill(size)),
  );
  const dataFile = v3 ? random.pick(['none', 'none', 'none', 'none', 'kept', 'raw'] as const) : 'none';
  const discard = random.chance(0.8) ? 'unmap' : 'ignore';
  return {
    version,
    clusterSize,
    refcountBits: v3 ? random.pick([1, 2, 4, 8, 16, 16, 16, 16, 32, 64]) : 16,
    extendedL2: v3 && clusterSize >= 16384 && random.chance(0.4),
    lazyRefcounts: v3 && random.chance(0.25),
    compressionType: v3 && random.chance(0.3) ? 'zstd' : 'zlib',
    dataFile,
    backing: dataFile === 'raw' ? 'none' : random.pick(['none', 'none', 'short', 'same', 'long'] as const),
    size: drawSize(clusterSize, random),
    discard,
    discardNoUnref: random.chance(0.2),
    detectZeroes: random.pick(discard === 'unmap' ? ['off', 'on', 'unmap'] : ['off', 'on']),
    cacheSize: random.chance(0.4) ? random.pick([1, 16 * Math.min(4096, clusterSize)]) : undefined,
    overlapCheck: random.pick(['none', 'constant', 'cached', 'cached', 'cached', 'all']),
  };
}

/** Some clusters and a part of one; several L2 tables where clusters are small. */
function drawSize(clusterSize: number, random: Random): number {
  const most = clusterSize >= 1 << 20 ? 5 : clusterSize >= 1 << 16 ? 20 : clusterSize === 512 ? 300 : 100;
  const whole = random.between(2, most) * clusterSize;
  return random.chance(0.5) ? whole : whole - 512 * random.below(clusterSize / 512);
}

export const describeSetup = (setup: Setup): string =>
  Object.entries(setup)
    .filter(([, value]) => value !== false && value !== undefined && value !== 'none')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
