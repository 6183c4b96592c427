import type { CreateOptions } from '@blockyard/core';
import { badOption, type Where } from '../failure.ts';
import { maxNameBytes } from '../header.ts';
import type { Qcow2CreateOptions } from './options.ts';

export type Preallocation = 'off' | 'metadata' | 'falloc' | 'full';

/** What a new image is to be: options that go together, with their defaults. */
export interface NewImage {
  version: 2 | 3;
  size: number;
  clusterSize: number;
  refcountBits: number;
  lazyRefcounts: boolean;
  preallocation: Preallocation;
  backing: { name: string; format: string } | undefined;
  dataFile: string | undefined;
  dataFileRaw: boolean;
  extendedL2: boolean;
  compressionType: 'zlib' | 'zstd';
}

const isPowerOfTwo = (value: number): boolean => value > 0 && Number.isInteger(Math.log2(value));
const preallocations: readonly unknown[] = ['off', 'metadata', 'falloc', 'full'];

/** @throws BlockError ERR_INVALID_OPTION for what no image can have, and for options that contradict each other. */
export function newImage(options: CreateOptions, where: Where = { path: '' }): NewImage {
  const given = options as CreateOptions & Qcow2CreateOptions & { preallocation?: Preallocation };
  const image: NewImage = {
    version: given.compat === '0.10' || given.compat === 'v2' ? 2 : 3,
    size: given.size,
    clusterSize: given.clusterSize ?? 65536,
    refcountBits: given.refcountBits ?? 16,
    lazyRefcounts: given.lazyRefcounts ?? false,
    preallocation: given.preallocation ?? 'off',
    backing: backingOf(given, where),
    dataFile: given.dataFile,
    dataFileRaw: given.dataFileRaw ?? false,
    extendedL2: given.extendedL2 ?? false,
    compressionType: given.compressionType ?? 'zlib',
  };
  const why = [...numbers(image), ...versionNeeds(image), ...contradictions(image)][0];
  if (why !== undefined) throw badOption(where, why);
  return image;
}

function backingOf(given: Qcow2CreateOptions, where: Where): NewImage['backing'] {
  const { backingFile: name, backingFormat: format } = given;
  if (name === undefined && format === undefined) return undefined;
  if (name === undefined) throw badOption(where, 'backingFormat is given without backingFile');
  checkName(name, 'backingFile', where);
  if (!format) {
    throw badOption(
      where,
      `backingFormat is not given; say the format of '${name}' (raw, qcow2, ...): it is never guessed`,
    );
  }
  return { name, format };
}

/** @throws BlockError ERR_INVALID_OPTION */
export function checkName(name: string, option: string, where: Where): void {
  if (name === '') throw badOption(where, `${option} is empty; leave it out for none`);
  const { length } = new TextEncoder().encode(name);
  if (length > maxNameBytes)
    throw badOption(where, `${option} has ${length} bytes; the most is ${maxNameBytes}`);
}

function* numbers({ clusterSize, refcountBits, extendedL2, preallocation }: NewImage): Generator<string> {
  if (!isPowerOfTwo(clusterSize) || clusterSize < 512 || clusterSize > 2 ** 21)
    yield `clusterSize is ${clusterSize}; it must be a power of two from 512 to 2097152 (2 MiB)`;
  if (!isPowerOfTwo(refcountBits) || refcountBits > 64)
    yield `refcountBits is ${refcountBits}; it can be 1, 2, 4, 8, 16, 32 or 64`;
  if (extendedL2 && clusterSize < 16384)
    yield `extendedL2 needs clusters of at least 16384 bytes, and clusterSize is ${clusterSize}`;
  if (!preallocations.includes(preallocation))
    yield `preallocation is '${preallocation}'; it can be 'off', 'metadata', 'falloc' or 'full'`;
}

/** Version 2 has no place for what came with version 3. */
function* versionNeeds(image: NewImage): Generator<string> {
  if (image.version === 3) return;
  const needs = (what: string) => `${what} needs compat '1.1' (version 3 of the format)`;
  if (image.lazyRefcounts) yield needs('lazyRefcounts');
  if (image.refcountBits !== 16) yield needs(`refcountBits ${image.refcountBits}`);
  if (image.dataFile !== undefined) yield needs('dataFile');
  if (image.extendedL2) yield needs('extendedL2');
  if (image.compressionType !== 'zlib') yield needs(`compressionType '${image.compressionType}'`);
}

function* contradictions(image: NewImage): Generator<string> {
  const { backing, dataFile, dataFileRaw, preallocation, extendedL2 } = image;
  if (dataFileRaw && dataFile === undefined) yield 'dataFileRaw is given without dataFile';
  if (dataFile === '') yield 'dataFile is empty; leave it out for none';
  if (dataFileRaw && backing)
    yield 'dataFileRaw and backingFile exclude each other: a raw image cannot show what is behind it';
  if (backing && preallocation !== 'off' && !extendedL2)
    yield `preallocation '${preallocation}' would hide all of the backing image; with extendedL2 it does not`;
}
