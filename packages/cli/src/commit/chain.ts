import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BlockError, type BlockNode, type NodeOptions, protocolNode, type Registry } from '@blockyard/core';
import { fullName } from '../info/names.ts';
import { parseImage } from '../open/argument.ts';
import { openSource, policyOf } from '../open/source.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { ImageFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';
import { withoutForceShare } from '../words.ts';

/** One image behind another, by what it is opened with. */
interface Layer {
  path: string;
  identity: string | undefined;
  options: NodeOptions;
}

export interface OpenChain {
  top: BlockNode;
  /** Open for writing. */
  base: BlockNode;
  /** Paths of the images between the two. */
  between: readonly string[];
}

export interface ChainSettings {
  image: string;
  /** The image to commit into; without it the one directly behind. */
  base: string | undefined;
  /** Whether the top image is to be written to. */
  writeTop: boolean;
  flags: ImageFlags;
  registry: Registry;
  terminal: Terminal;
}

/**
 * Opens an image and those behind it, one of them for writing. What an image names is only ever opened to be read:
 * the chain is found that way first, and opened again from below.
 */
export async function withChain<T>(
  settings: ChainSettings,
  work: (chain: OpenChain) => Promise<T>,
): Promise<T> {
  const { image, registry, flags, terminal, writeTop } = settings;
  const survey = await openSource(image, registry, flags, terminal).catch((error: unknown) => {
    throw withoutForceShare(error);
  });
  const layers = await findLayers(settings, survey);
  const opened: BlockNode[] = [];
  try {
    let below: BlockNode | undefined;
    for (const layer of [...layers].reverse()) {
      below = await openLayer(layer, below, settings);
      opened.push(below);
    }
    const [base] = opened as [BlockNode];
    const top = await openSource(image, registry, { ...flags, writable: writeTop, backing: below }, terminal);
    opened.push(top);
    const between = layers.slice(0, -1).map(({ path }) => path);
    const result = await work({ top, base, between });
    // What cannot be written at the end is a failure of the command.
    while (opened.length > 0) await opened.pop()?.close();
    return result;
  } finally {
    for (const node of opened.reverse()) await node.close().catch(() => {});
  }
}

/** From the image directly behind to the base. */
async function findLayers({ image, base, registry, flags }: ChainSettings, top: BlockNode): Promise<Layer[]> {
  try {
    const argument = parseImage(image, registry, flags.imageOpts);
    let given = argument.kind === 'tree' ? (argument.tree as Record<string, unknown>) : undefined;
    const layers: Layer[] = [];
    let above = protocolNode(top).path;
    for (let node = top.children.backing; node; node = node.children.backing) {
      given = given?.backing as typeof given;
      const { path, location } = protocolNode(node);
      layers.push({
        path,
        identity: location.identity,
        options: given ? ({ ...given } as never) : optionsOf(node),
      });
      if (base === undefined || (await isNamed(path, base, above))) return layers;
      above = path;
    }
    const why =
      base === undefined
        ? 'it has no backing file to commit into'
        : `${base} is not behind it; there are ${layers.map(({ path }) => path).join(', ') || 'none'}`;
    throw new BlockError('ERR_INVALID_OPTION', `commit ${image}: ${why}`, { op: 'commit', path: image });
  } finally {
    await top.close();
  }
}

/** As the user sees it from here, or as the image above names it. */
async function isNamed(path: string, base: string, above: string): Promise<boolean> {
  const real = async (name: string) => await realpath(name).catch(() => resolve(name));
  const own = await real(path);
  return own === (await real(base)) || own === (await real(fullName(base, above)));
}

/** What opens the same again. */
function optionsOf(node: BlockNode): NodeOptions {
  const { file, 'data-file': data } = node.children;
  const place = ({ driver, path }: BlockNode) => ({ driver, filename: path });
  const { offset, size } = node.driver === 'raw' ? (node.describeOptions() as Record<string, unknown>) : {};
  return {
    driver: node.driver,
    file: place(protocolNode(file ?? node)),
    ...(data ? { dataFile: place(protocolNode(data)) } : {}),
    ...(offset ? { offset } : {}),
    ...(size === undefined ? {} : { size }),
  } as NodeOptions;
}

async function openLayer(
  { options, identity, path }: Layer,
  below: BlockNode | undefined,
  { flags, registry, terminal }: ChainSettings,
): Promise<BlockNode> {
  const cache = cacheModes[(flags.cache ?? 'writeback') as CacheMode];
  // The last one is the base: only it is written to, and what is behind it is found by its name.
  const tree = {
    ...options,
    readOnly: below !== undefined,
    discard: 'unmap',
    cache,
    ...(below ? { backing: below } : {}),
  };
  const settings = { references: policyOf(flags.references), probe: flags.probe, signal: terminal.signal };
  const node = await registry.openNode(tree as unknown as NodeOptions, settings);
  if (protocolNode(node).location.identity === identity) return node;
  await node.close();
  const text = `commit: another file took the place of ${path} while it was being opened; try again`;
  throw new BlockError('ERR_IN_USE', text, { op: 'commit', path });
}
