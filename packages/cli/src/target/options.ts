import type { Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { splitPairs, type Tree, treeFromPairs } from '../options/key-value.ts';

export const preallocations = ['off', 'falloc', 'full'] as const;

/** What `-o` says of a raw target: how it is made, and how it is opened. */
export interface TargetOptions {
  preallocation: (typeof preallocations)[number];
  /** Of the raw format's node: a window on the file, for one. */
  raw: Tree;
  /** Of the file's node. */
  file: Tree;
}

export function parseTargetOptions(texts: readonly string[], registry: Registry): TargetOptions {
  const pairs = texts.flatMap(splitPairs);
  let preallocation: TargetOptions['preallocation'] = 'off';
  const rest = pairs.filter(([key, value]) => {
    if (key !== 'preallocation') return true;
    if (!preallocations.includes(value as never)) {
      throw new UsageError(`-o preallocation: expected ${preallocations.join(', ')}, got '${value}'`);
    }
    preallocation = value as TargetOptions['preallocation'];
    return false;
  });
  const filePairs = rest
    .filter(([key]) => key.startsWith('file.'))
    .map(([key, value]) => [key.slice(5), value] as const);
  const rawPairs = rest.filter(([key]) => !key.startsWith('file.'));
  const known = registry.drivers.get('raw')?.options ?? {};
  for (const [key] of rawPairs) {
    const name = key.split('.')[0] ?? '';
    if (
      !Object.hasOwn(known, name) &&
      !['discard', 'detectZeroes', 'detect-zeroes', 'cache'].includes(name)
    ) {
      throw new UsageError(
        `-o ${key}: a raw target has no such option; it has preallocation, offset, size and, of its file, file.<option> (see blockyard drivers file)`,
      );
    }
  }
  return {
    preallocation,
    raw: treeFromPairs(rawPairs, registry, 'raw'),
    file: treeFromPairs(filePairs, registry, 'file'),
  };
}
