import type { NodeOptions, Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { splitPairs, treeFromPairs } from '../options/key-value.ts';

/** What an image argument stands for. */
export type ImageArgument =
  | { kind: 'name'; text: string }
  | { kind: 'stream'; text: '-' }
  | { kind: 'tree'; text: string; tree: NodeOptions | { driver?: undefined; file: NodeOptions } };

/** '-' is a stream; '{...}' and 'json:{...}' are a graph; with `imageOpts` so is 'driver=...'; all else is a name. */
export function parseImage(text: string, registry: Registry, imageOpts = false): ImageArgument {
  if (text === '') throw new UsageError('the name of the image is empty');
  if (text.includes('\0')) throw new UsageError('the name of the image has a NUL character');
  if (imageOpts)
    return { kind: 'tree', text, tree: checkTree(treeFromPairs(splitPairs(text), registry), text) };
  if (text === '-') return { kind: 'stream', text };
  if (text.startsWith('{')) return { kind: 'tree', text, tree: checkTree(parseJson(text), text) };
  if (text.startsWith('json:'))
    return { kind: 'tree', text, tree: checkTree(parseJson(text.slice(5)), text) };
  return { kind: 'name', text };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `the image argument is not JSON: ${(error as Error).message}; for a file of that name write ./${text.slice(0, 20)}`,
    );
  }
}

type Tree = Extract<ImageArgument, { kind: 'tree' }>['tree'];

function checkTree(value: unknown, text: string): Tree {
  const tree = value as Record<string, unknown> | null;
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    throw new UsageError(`the image argument is not an object of options: ${text}`);
  }
  if (tree.driver === undefined && (typeof tree.file !== 'object' || tree.file === null)) {
    throw new UsageError(`the graph needs "driver", or at least "file" with a driver of its own: ${text}`);
  }
  return tree as Tree;
}
