import {
  type BlockDriver,
  BlockError,
  type OptionSpec,
  type OptionSpecs,
  type Registry,
} from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { nearest } from '../nearest.ts';
import { checkFormat } from '../open/source.ts';
import { table } from '../output/table.ts';
import { camelCase, typedPairs } from './key-value.ts';

export type CreationOptions = Record<string, unknown>;

const preallocation: OptionSpec = {
  type: 'enum',
  values: ['off', 'metadata', 'falloc', 'full'],
  help: 'space for the disk when it is made (default off)',
};
const size: OptionSpec = { type: 'size', help: 'bytes of the disk, instead of the argument' };

/** qemu-img's names where those of the API are not the same with capitals for dashes. */
const longer: Readonly<Record<string, string>> = { backingFmt: 'backingFormat' };

/** What only `create` of a format takes, and is said without a size. */
const ofCreate = { preallocation, size };

/** Driver of a format that can make images. @throws BlockError */
export function makerOf(registry: Registry, format: string): BlockDriver {
  checkFormat(registry, format);
  const driver = registry.driver(format);
  if (driver.create || format === 'raw') return driver;
  const text = `create: images of the format ${format} can be read here, not made; choose another`;
  throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'create', driver: format });
}

/** The options of `-o`, by the names of the driver and of qemu-img: cluster_size and clusterSize. */
export function creationFrom(
  pairs: readonly (readonly [string, string])[],
  { name, createOptions = {} }: BlockDriver,
  registry: Registry,
): CreationOptions {
  return typedOptions(pairs, { ...ofCreate, ...createOptions }, `a new ${name} image`, registry);
}

/** The options of `-o` of a command that changes an image. */
export function changesFrom(
  pairs: readonly (readonly [string, string])[],
  driver: BlockDriver,
  registry: Registry,
): CreationOptions {
  return typedOptions(pairs, amendable(driver), `an existing ${driver.name} image`, registry);
}

function typedOptions(
  given: readonly (readonly [string, string])[],
  specs: OptionSpecs,
  of: string,
  registry: Registry,
): CreationOptions {
  const pairs = given.map(([key, value]) => [nameOf(key, specs, of), value] as const);
  const seen = new Set<string>();
  for (const [name] of pairs) {
    if (seen.has(name)) throw new UsageError(`-o ${snakeCase(name)}: it is given twice`);
    seen.add(name);
  }
  return typedPairs(pairs, specs, registry, (name) => `-o ${snakeCase(name)}`);
}

function nameOf(key: string, specs: OptionSpecs, of: string): string {
  const camel = camelCase(key);
  const name = Object.hasOwn(specs, camel) ? camel : (longer[camel] ?? camel);
  if (Object.hasOwn(specs, name)) return name;
  if (/^encr/i.test(key))
    throw new UsageError(`-o ${key}: encrypted images are not in this version; leave it out`);
  if (name === 'size')
    throw new UsageError('-o size: the size of an image that exists is changed by blockyard resize');
  const known = Object.keys(specs).map(snakeCase);
  const meant = nearest(snakeCase(camel), known);
  const next = meant ? `did you mean ${meant}?` : `it has ${known.sort().join(', ')}`;
  throw new UsageError(`-o ${key}: ${of} has no such option; ${next}`);
}

export const snakeCase = (name: string): string =>
  name === 'backingFormat'
    ? 'backing_fmt'
    : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What `-o help` prints. */
export function creationHelp(driver: BlockDriver): string {
  return optionsHelp(`Options of a new ${driver.name} image (-o):`, { ...driver.createOptions, ...ofCreate });
}

export function optionsHelp(title: string, specs: OptionSpecs): string {
  const rows = Object.entries(specs)
    .map(([name, spec]) => [`${snakeCase(name)}=${valuesOf(spec)}`, spec.help])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return [title, ...table(rows).map((line) => `  ${line}`)].join('\n');
}

function valuesOf(spec: OptionSpec): string {
  if (spec.type === 'enum') return spec.values.join('|');
  return { boolean: 'on|off', size: 'SIZE' }[spec.type as string] ?? 'NAME';
}

export const asksForHelp = (texts: readonly string[] | undefined): boolean =>
  texts?.some((text) => text === 'help' || text === '?') === true;

/** What `amend` changes of an image that exists. What is behind it is recorded by whoever has it open. */
export function amendable({ createOptions = {}, amendOptions = {} }: BlockDriver): OptionSpecs {
  const { backingFile, backingFormat } = createOptions;
  return { ...amendOptions, ...(backingFile && backingFormat ? { backingFile, backingFormat } : {}) };
}
