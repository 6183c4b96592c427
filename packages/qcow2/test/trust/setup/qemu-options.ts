import { fileNames } from './image.ts';
import type { Setup } from './setup.ts';

/** What qemu-img create takes for a setup. */
export function qemuOptions(setup: Setup): string {
  const {
    version,
    clusterSize,
    refcountBits,
    extendedL2,
    lazyRefcounts,
    compressionType,
    dataFile,
    backing,
  } = setup;
  return [
    `compat=${version === 2 ? '0.10' : '1.1'},cluster_size=${clusterSize},refcount_bits=${refcountBits}`,
    ...(extendedL2 ? ['extended_l2=on'] : []),
    ...(lazyRefcounts ? ['lazy_refcounts=on'] : []),
    ...(compressionType === 'zstd' ? ['compression_type=zstd'] : []),
    ...(dataFile === 'none' ? [] : [`data_file=${fileNames.data}`]),
    ...(dataFile === 'raw' ? ['data_file_raw=on'] : []),
    ...(backing === 'none' ? [] : [`backing_file=${fileNames.backing},backing_fmt=raw`]),
  ].join();
}
