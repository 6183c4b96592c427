import { existsSync } from 'node:fs';
import { BlockError, type NodeOptions, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { splitPairs, treeFromPairs } from '../options/key-value.ts';

/** What an image argument stands for. */
export type ImageArgument =
  | { kind: 'name'; text: string }
  | { kind: 'stream'; text: '-' }
  | { kind: 'tree'; text: string; tree: NodeOptions | { driver?: undefined; file: NodeOptions } };

export type SeekableImage = ImageArgument & { kind: 'name' | 'tree' };

/** An argument of which any part is to be read at any time. @throws UsageError for a stream */
export function parseSeekable(text: string, registry: Registry, imageOpts = false): SeekableImage {
  const image = parseImage(text, registry, imageOpts);
  if (image.kind !== 'stream') return image;
  throw new UsageError('standard input has no random access, which this needs; save it to a file first');
}

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
  checkScheme(text);
  return { kind: 'name', text };
}

/** Protocols of QEMU whose names need no slashes. */
const elsewhere =
  /^(ssh|nbd|https?|ftps?|iscsi|rbd|nfs|gluster|sheepdog|nvme|fat|host_device|blkdebug):(?!\/\/)/;

/** What looks like a protocol is a file only where there is one of that name. */
function checkScheme(text: string): void {
  const scheme = elsewhere.exec(text)?.[1];
  if (scheme && !existsSync(text)) {
    const why = `this version speaks no ${scheme}:, and there is no such file; for a file of that name write ./${text}`;
    throw new BlockError('ERR_UNKNOWN_DRIVER', `open ${text}: ${why}`, { op: 'open', path: text });
  }
  const rest = /^file:(?!\/\/)(.*)$/s.exec(text)?.[1];
  if (rest !== undefined && !existsSync(rest) && existsSync(text)) {
    const why = `that is the file '${rest}', which does not exist; for the file of the whole name write ./${text}`;
    throw new BlockError('ENOENT', `open ${text}: ${why}`, { op: 'open', path: text });
  }
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
