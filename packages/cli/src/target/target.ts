import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BlockError, type BlockNode, type NodeOptions, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { parseImage } from '../open/argument.ts';
import { openDirect } from '../open/direct.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { Terminal } from '../terminal.ts';
import { parseTargetOptions, type TargetOptions } from './options.ts';
import { findPlace, type Place } from './place.ts';
import { TemporaryFile } from './temporary.ts';

export interface TargetFlags {
  cache: CacheMode;
  aio?: string | undefined;
  noCreate: boolean;
  overwrite: boolean;
  imageOpts?: boolean | undefined;
  options: readonly string[];
}

/** Where a copy goes. Nothing is touched before `open`. */
export class Target {
  readonly #name: string;
  readonly #registry: Registry;
  readonly #flags: TargetFlags;
  readonly #terminal: Terminal;
  readonly #options: TargetOptions;
  readonly #place: Place | undefined;
  readonly #tree: NodeOptions | undefined;
  readonly #temporary: TemporaryFile | undefined;
  #opened = false;

  private constructor(
    name: string,
    registry: Registry,
    flags: TargetFlags,
    terminal: Terminal,
    found: { place?: Place; tree?: NodeOptions },
  ) {
    this.#name = name;
    this.#registry = registry;
    this.#flags = flags;
    this.#terminal = terminal;
    this.#options = parseTargetOptions(flags.options, registry);
    this.#place = found.place;
    this.#tree = found.tree;
    if (found.place?.kind === 'new')
      this.#temporary = new TemporaryFile(found.place.path, found.place.mode !== undefined);
  }

  /** @throws BlockError when the target is there and must not be touched. */
  static async find(
    text: string,
    registry: Registry,
    flags: TargetFlags,
    terminal: Terminal,
  ): Promise<Target> {
    const image = parseImage(text, registry, flags.imageOpts);
    if (image.kind === 'stream') throw new TypeError('a stream is no target with random access');
    const tree = image.kind === 'tree' ? (image.tree as NodeOptions) : registry.parseName(image.text);
    if (image.kind === 'tree' || tree.driver !== 'file')
      return new Target(text, registry, flags, terminal, { tree });
    const place = await findPlace(tree.filename as string, flags);
    if (place.kind === 'new' && flags.options.some((text) => /(^|,)(offset|size)=/.test(text))) {
      throw new UsageError('-o offset and size are a window on a target that exists; they need -n');
    }
    return new Target(tree.filename as string, registry, flags, terminal, { place });
  }

  /** Every byte of it is zero when it is opened. */
  get isZero(): boolean {
    return this.#temporary !== undefined;
  }

  /** Makes the file where there is none, and opens it for writing. */
  async open(size: number): Promise<BlockNode> {
    const { preallocation, file } = this.#options;
    if (this.#temporary) {
      const { path } = this.#temporary;
      const create = this.#registry.drivers.get('file')?.createFile;
      if (!create) throw new TypeError("the driver 'file' cannot make files");
      this.#temporary.made();
      const whole = preallocation === 'off';
      try {
        await create({ ...file, filename: path } as never, { size: whole ? size : 0, exclusive: true });
      } catch (error) {
        throw notMade(this.#name, error);
      }
      this.#opened = true;
      const node = await this.#openNode(false, cacheModes[this.#flags.cache]);
      // Not when it is made: this can take long, and here it can be interrupted.
      try {
        if (!whole) await node.truncate(size, { preallocation, signal: this.#terminal.signal });
      } catch (error) {
        await this.abandon(node);
        throw error;
      }
      return node;
    }
    if (preallocation !== 'off') {
      const text = `write to ${this.#name}: -o preallocation is for new files; leave it out`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'create', path: this.#name });
    }
    const node = await this.#openNode(false, cacheModes[this.#flags.cache]);
    // One that is too small is refused before it is written to.
    this.#opened = node.size >= size;
    return node;
  }

  /** @throws BlockError when the target is one of the files that the source is read from. */
  async checkDistinct(source: BlockNode): Promise<void> {
    if (!this.#place || !existsSync(this.#place.path)) return;
    const own = await this.#registry.drivers.get('file')?.locate?.(resolve(this.#place.path), source);
    const same = own?.location.identity && nodeWithIdentity(source, own.location.identity);
    if (!same) return;
    const text = `convert to ${this.#name}: the source is read from ${same.path}, which is the same file; choose another target`;
    throw new BlockError('ERR_IN_USE', text, { op: 'convert', path: this.#name });
  }

  /** Opens what was written, to be read past the page cache. */
  async reopen(): Promise<BlockNode> {
    return await this.#openNode(true, { direct: true, noFlush: false });
  }

  /** Gives a new file its name. */
  async finish(): Promise<void> {
    const mode = this.#place?.kind === 'new' ? this.#place.mode : undefined;
    await this.#temporary?.finish(mode, this.#flags.cache !== 'unsafe');
  }

  /** Closes a copy that failed. What is to be removed is emptied first, or closing would wait for it to reach the disk. */
  async abandon(node: BlockNode): Promise<void> {
    try {
      if (this.#temporary) await node.truncate(0, { shrink: true });
    } catch {
      // What has failed already is what there is to tell.
    }
    await node.close().catch(() => {});
  }

  /** Removes what is unfinished. @returns in which state things are left; undefined when nothing was touched. */
  async giveUp(): Promise<string | undefined> {
    if (this.#temporary) return this.#opened ? await this.#temporary.discard() : undefined;
    return this.#opened
      ? `${this.#name} was being written in place: it holds a part of the copy, do not use it`
      : undefined;
  }

  async #openNode(readOnly: boolean, cache: { direct: boolean; noFlush: boolean }): Promise<BlockNode> {
    const { raw, file } = this.#options;
    const { aio } = this.#flags;
    return await openDirect(cache.direct, this.#terminal, async (direct) => {
      const common = { readOnly, discard: 'unmap' as const, cache: { ...cache, direct } };
      const filename = this.#temporary?.path ?? this.#name;
      const below: NodeOptions = this.#tree ?? {
        driver: 'file',
        filename,
        ...(aio && aio !== 'auto' ? { aio } : {}),
        ...file,
      };
      const window = Object.keys(raw).length > 0;
      const tree = window ? { driver: 'raw', ...common, ...raw, file: below } : { ...common, ...below };
      return await this.#registry.openNode(tree as NodeOptions, { signal: this.#terminal.signal });
    });
  }
}

function nodeWithIdentity(node: BlockNode, identity: string): BlockNode | undefined {
  if (node.location.identity === identity) return node;
  for (const child of Object.values(node.children)) {
    const found = nodeWithIdentity(child, identity);
    if (found) return found;
  }
  return undefined;
}

/** What the system says of the temporary name is said of the target's. */
function notMade(name: string, cause: unknown): unknown {
  const { code } = cause as { code?: string };
  if (typeof code !== 'string') return cause;
  const why: Record<string, string> = {
    ENOENT: 'its directory does not exist; make it first, or check the name',
    ENOTDIR: 'what should be its directory is none; check the name',
    EACCES: 'its directory does not let you make files; choose another, or ask for the right',
    EROFS: 'its file system is read-only; choose another',
  };
  const said = why[code] ?? (cause as Error).message;
  const text = `write to ${name}: ${said.includes(`(${code})`) ? said : `${said} (${code})`}`;
  return new BlockError(code, text, { op: 'create', path: name, cause });
}
