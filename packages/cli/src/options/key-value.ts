import { commonOptions, type OptionSpec, type OptionSpecs, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { parseSize } from './size.ts';

export type Tree = { [key: string]: unknown };

/** Splits 'a=1,b.c=2'; a comma is doubled to be part of a value, as in QEMU. A key alone is 'on'. */
export function splitPairs(text: string): [key: string, value: string][] {
  const parts = text
    .replaceAll(',,', '\0')
    .split(',')
    .filter((part) => part !== '');
  return parts.map((part) => {
    const whole = part.replaceAll('\0', ',');
    const equals = whole.indexOf('=');
    return equals < 0 ? [whole, 'on'] : [whole.slice(0, equals), whole.slice(equals + 1)];
  });
}

/** An options tree from dotted keys, with the types that the drivers' option specs ask for: `--image-opts`, `-o`. */
export function treeFromPairs(
  pairs: readonly (readonly [string, string])[],
  registry: Registry,
  driver?: string,
): Tree {
  const tree: Tree = {};
  for (const [key, value] of pairs) insert(tree, key.split('.').map(camelCase), value, key);
  return typed(tree, specsOf(registry, driver ?? (tree.driver as string | undefined)), registry, '') as Tree;
}

/** QEMU writes 'no-flush' and 'cluster_size' where the options here are named 'noFlush' and 'clusterSize'. */
export const camelCase = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Values with the types of their specs. `shown` is an option's name in errors. */
export function typedPairs(
  pairs: readonly (readonly [name: string, value: string])[],
  specs: OptionSpecs,
  registry: Registry,
  shown: (name: string) => string,
): Tree {
  return Object.fromEntries(
    pairs.map(([name, value]) => {
      const spec = specs[name];
      return [name, spec ? convert(value, spec, registry, shown(name)) : value];
    }),
  );
}

function insert(tree: Tree, [name = '', ...rest]: string[], value: string, key: string): void {
  if (['', '__proto__', 'constructor', 'prototype'].includes(name))
    throw new UsageError(`'${key}': not the name of an option`);
  if (rest.length === 0) {
    if (typeof tree[name] === 'object')
      throw new UsageError(`'${key}' is given both a value and options of its own`);
    tree[name] = value;
    return;
  }
  tree[name] ??= {};
  if (typeof tree[name] !== 'object')
    throw new UsageError(`'${key}' is given both a value and options of its own`);
  insert(tree[name] as Tree, rest, value, key);
}

const anyFile: OptionSpec = { type: 'node', help: 'the file of the image' };

function specsOf(registry: Registry, driver: string | undefined): OptionSpecs {
  // Without a driver there can be a file, whose first bytes tell it.
  const own = driver === undefined ? { file: anyFile } : registry.drivers.get(driver)?.options;
  return { ...commonOptions, ...own };
}

function typed(tree: Tree, specs: OptionSpecs, registry: Registry, path: string): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => {
      const spec = specs[name];
      return [name, spec ? convert(value, spec, registry, path ? `${path}.${name}` : name) : value];
    }),
  );
}

/** As in QEMU, a file name alone says which driver opens it. */
function withDriver(child: Tree, registry: Registry, path: string): Tree {
  if (child.driver !== undefined) return child;
  if (typeof child.filename !== 'string') {
    const known = specsOf(registry, 'file');
    const wrong = Object.keys(child).find((name) => !Object.hasOwn(known, name));
    throw new UsageError(
      wrong === undefined || typeof child[wrong] === 'object'
        ? `${path}: it needs ${path}.filename, or ${path}.driver and the options of that driver`
        : `${path}.${wrong}: a file has no such option; it has ${Object.keys(known).sort().join(', ')} (for another driver say ${path}.driver)`,
    );
  }
  return { ...registry.parseName(child.filename), ...child };
}

function convert(value: unknown, spec: OptionSpec, registry: Registry, path: string): unknown {
  if (typeof value === 'object' && value !== null) {
    if (spec.type === 'object') return typed(value as Tree, spec.fields, registry, path);
    if (spec.type !== 'node') return value;
    const child = withDriver(value as Tree, registry, path);
    // The driver's own check says what is wrong with an unknown one.
    return typed(child, specsOf(registry, child.driver as string | undefined), registry, path);
  }
  const text = value as string;
  switch (spec.type) {
    case 'boolean':
      if (['on', 'true', 'yes'].includes(text)) return true;
      if (['off', 'false', 'no'].includes(text)) return false;
      throw new UsageError(`${path}: expected on or off, got '${text}'`);
    case 'size':
      return parseSize(text, path);
    case 'node':
      if (text === 'null' && spec.nullable) return null;
      return registry.parseName(text);
    case 'enum':
      if (spec.values.includes(text)) return text;
      throw new UsageError(`${path}: expected one of ${spec.values.join(', ')}, got '${text}'`);
    case 'any':
      throw new UsageError(`${path}: this option can only be given by a program`);
    default:
      return text;
  }
}
