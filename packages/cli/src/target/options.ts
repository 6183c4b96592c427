import type { Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { type CreationOptions, creationFrom, makerOf } from '../options/creation.ts';
import { splitPairs, type Tree, treeFromPairs } from '../options/key-value.ts';

export const preallocations = ['off', 'falloc', 'full'] as const;

export const rawOptionsHelp = `Options of a raw target (-o):
  preallocation=off|falloc|full  space for the whole disk when it is made (default off)
  offset=SIZE, size=SIZE         with -n: a window on the target
  file.OPTION=VALUE              of its file; see blockyard drivers file`;

/** What `-o` says of a target: how it is made, and how it is opened. */
export interface TargetOptions {
  /** Of a raw file. */
  preallocation: (typeof preallocations)[number];
  /** Of a new image of another format. */
  creation: CreationOptions;
  /** Of the raw format's node: a window on the file, for one. */
  raw: Tree;
  /** Of the file's node. */
  file: Tree;
}

interface OptionFlags {
  format: string;
  noCreate: boolean;
  options: readonly string[];
}

export function parseTargetOptions(flags: OptionFlags, registry: Registry): TargetOptions {
  return flags.format === 'raw' ? rawOptions(flags.options, registry) : formatOptions(flags, registry);
}

/** Each text is as the user wrote it, so that commas in values stay what they are. */
function formatOptions({ format, noCreate, options }: OptionFlags, registry: Registry): TargetOptions {
  const isFile = ([key]: readonly [string, string]) => key.startsWith('file.');
  const pairs = options.flatMap(splitPairs);
  const ofImage = pairs.filter((pair) => !isFile(pair));
  const [first] = ofImage;
  if (noCreate && first)
    throw new UsageError(`-o ${first[0]}: with -n the target is there, and stays what it is; leave it out`);
  if (ofImage.some(([key]) => key === 'size'))
    throw new UsageError('-o size: the size is that of the source; resize changes it afterwards');
  const filePairs = pairs.filter(isFile).map(([key, value]) => [key.slice(5), value] as const);
  return {
    preallocation: 'off',
    creation: creationFrom(ofImage, makerOf(registry, format), registry),
    raw: {},
    file: treeFromPairs(filePairs, registry, 'file'),
  };
}

function rawOptions(texts: readonly string[], registry: Registry): TargetOptions {
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
    creation: {},
    raw: treeFromPairs(rawPairs, registry, 'raw'),
    file: treeFromPairs(filePairs, registry, 'file'),
  };
}
