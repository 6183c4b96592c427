import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { BlockError, type BlockNode, type NodeOptions, protocolNode, type Registry } from '@blockyard/core';
import type { OperationOptions } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { parseImage } from '../open/argument.ts';
import { openDirect } from '../open/direct.ts';
import { policyOf } from '../open/source.ts';
import { type CacheMode, cacheModes } from '../options/cache.ts';
import type { CreationOptions } from '../options/creation.ts';
import type { Terminal } from '../terminal.ts';
import type { BackingName } from './backing.ts';
import { NewImage } from './new-image.ts';
import { parseTargetOptions, type TargetOptions } from './options.ts';
import { findPlace, type Place } from './place.ts';
import { TemporaryFile } from './temporary.ts';
import { wholeSectors } from './whole-sectors.ts';

export interface TargetFlags {
  /** 'raw', or the name of a format that images can be made of. */
  format: string;
  cache: CacheMode;
  aio?: string | undefined;
  noCreate: boolean;
  overwrite: boolean;
  imageOpts?: boolean | undefined;
  options: readonly string[];
  /** More of the options of a new image than `options` has. */
  creation?: CreationOptions | undefined;
  references?: string | undefined;
  probe?: boolean | undefined;
}

interface Found {
  place?: Place;
  tree?: NodeOptions;
  image?: NewImage;
}

/** Where a copy goes. Nothing is touched before `make`. */
export class Target {
  readonly #name: string;
  readonly #registry: Registry;
  readonly #flags: TargetFlags;
  readonly #terminal: Terminal;
  readonly #options: TargetOptions;
  readonly #place: Place | undefined;
  readonly #tree: NodeOptions | undefined;
  readonly #image: NewImage | undefined;
  readonly #temporary: TemporaryFile | undefined;
  /** The opened backing file of a new image that names one; whoever sets it closes it. */
  behind: BlockNode | undefined;
  #touched = false;

  private constructor(
    name: string,
    registry: Registry,
    flags: TargetFlags,
    terminal: Terminal,
    options: TargetOptions,
    { place, tree, image }: Found,
  ) {
    this.#name = name;
    this.#registry = registry;
    this.#flags = flags;
    this.#terminal = terminal;
    this.#options = options;
    this.#place = place;
    this.#tree = tree;
    this.#image = image;
    if (place?.kind === 'new') this.#temporary = new TemporaryFile(place.path, place.mode !== undefined);
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
    const options = parseTargetOptions(flags, registry);
    if (image.kind === 'tree' || tree.driver !== 'file') {
      if (flags.format !== 'raw' && !flags.noCreate)
        throw new UsageError(
          `-O ${flags.format}: a target that is given as options is written as it is; make the image with create, and say -n`,
        );
      return new Target(text, registry, flags, terminal, options, { tree });
    }
    const name = tree.filename as string;
    const place = await findPlace(name, flags);
    if (
      place.kind === 'new' &&
      flags.format === 'raw' &&
      flags.options.some((o) => /(^|,)(offset|size)=/.test(o))
    ) {
      throw new UsageError('-o offset and size are a window on a target that exists; they need -n');
    }
    if (flags.format === 'raw' || flags.noCreate)
      return new Target(name, registry, flags, terminal, options, { place });
    const creation = { ...options.creation, ...flags.creation };
    const driver = registry.driver(flags.format);
    const made = await NewImage.plan(registry, driver, creation, name, flags.overwrite);
    return new Target(name, registry, flags, terminal, options, { place, image: made });
  }

  /** What a new image is to name as its backing file. */
  get backing(): BackingName | undefined {
    return this.#image?.backing;
  }

  /** Where names in it start: what the user called it, not where a link leads. */
  get path(): string {
    return this.#name;
  }

  /** Every byte of it is zero when it is opened. */
  get isZero(): boolean {
    return this.#image ? this.#image.backing === undefined : this.#temporary !== undefined;
  }

  /** Makes the file where there is none, and the image in it. */
  async make(bytes: number): Promise<void> {
    const { preallocation, file } = this.#options;
    const size = this.#image ? wholeSectors(bytes, this.#flags.format, this.#terminal) : bytes;
    this.#image?.check(size);
    await this.#checkUnused();
    if (this.#temporary) {
      const create = this.#registry.drivers.get('file')?.createFile;
      if (!create) throw new TypeError("the driver 'file' cannot make files");
      this.#temporary.made();
      const whole = this.#image === undefined && preallocation === 'off';
      try {
        const filename = this.#temporary.path;
        await create({ ...file, filename } as never, { size: whole ? size : 0, exclusive: true });
      } catch (error) {
        throw notMade(this.#name, error);
      }
      this.#touched = true;
      if (whole) return;
    } else if (!this.#image) {
      if (preallocation === 'off') return;
      const text = `write to ${this.#name}: -o preallocation is for new files; leave it out`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'create', path: this.#name });
    }
    this.#touched = true;
    const node = await this.#openFile(false, cacheModes[this.#flags.cache]);
    try {
      const { signal } = this.#terminal;
      // Not when the file is made: this can take long, and here it can be interrupted.
      if (this.#image) await this.#image.create(node, size, signal);
      else await node.truncate(size, { preallocation: preallocation as 'off', signal });
    } catch (error) {
      await this.abandon(node);
      throw error;
    }
    await node.close();
  }

  /** Who has the file open that is to be replaced would go on with one that has no name any more. */
  async #checkUnused(): Promise<void> {
    if (this.#place?.kind !== 'new' || this.#place.mode === undefined) return;
    try {
      const options = { driver: 'file', filename: this.#place.path, readOnly: false };
      await (await this.#registry.openNode(options as NodeOptions)).close();
    } catch (error) {
      // One that cannot be written can be replaced.
      if (error instanceof BlockError && error.code === 'ERR_IN_USE') throw error;
    }
  }

  /** Opens what was made, or was there, for writing. */
  async open(): Promise<BlockNode> {
    return await this.#openNode(false, cacheModes[this.#flags.cache]);
  }

  /** Sees the first progress of the work: what was wrong before it did no harm to what was there. */
  watch(options: OperationOptions): OperationOptions {
    const onProgress: OperationOptions['onProgress'] = (progress) => {
      this.#touched = true;
      options.onProgress?.(progress);
    };
    return { ...options, onProgress };
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
    const sync = this.#flags.cache !== 'unsafe';
    await this.#image?.finish(sync);
    await this.#temporary?.finish(mode, sync);
  }

  /** Closes a copy that failed. What is to be removed is emptied first, or closing would wait for it to reach the disk. */
  async abandon(node: BlockNode): Promise<void> {
    try {
      if (this.#temporary) await protocolNode(node).truncate(0, { shrink: true });
    } catch {
      // What has failed already is what there is to tell.
    }
    await node.close().catch(() => {});
  }

  /** Removes what is unfinished. @returns the error to throw, which tells in which state things are left. */
  async failed(error: unknown): Promise<unknown> {
    const left = await this.#giveUp();
    const said = this.#temporary ? inName(error, this.#temporary) : error;
    if (left !== undefined && said instanceof Error) Object.assign(said, { left });
    return said;
  }

  /** @returns in which state things are left; undefined when nothing was touched. */
  async #giveUp(): Promise<string | undefined> {
    const ofData = await this.#image?.discard();
    if (this.#temporary && !this.#touched) return undefined;
    const left = this.#temporary ? await this.#temporary.discard() : this.#inPlace();
    return ofData && left ? `${left}; of its data file: ${ofData}` : left;
  }

  #inPlace(): string | undefined {
    return this.#touched
      ? `${this.#name} was being written in place: it holds a part of the copy, do not use it`
      : undefined;
  }

  async #openNode(readOnly: boolean, cache: Cache): Promise<BlockNode> {
    const { format, references, probe } = this.#flags;
    if (format === 'raw') return await this.#openFile(readOnly, cache);
    if (this.#tree?.driver === format) return await this.#openFile(readOnly, cache);
    const file = await this.#openFile(readOnly, cache);
    try {
      const { behind } = this;
      const options = {
        driver: format,
        readOnly,
        discard: 'unmap',
        cache,
        file,
        ...this.#image?.openOptions,
        ...(behind ? { backing: behind } : {}),
      };
      const settings = { references: policyOf(references), probe, signal: this.#terminal.signal };
      return await this.#registry.openNode(options as unknown as NodeOptions, settings);
    } finally {
      // The format's node holds it too.
      await file.close();
    }
  }

  /** The file, or the window of it that is the raw disk; of a graph its root. */
  async #openFile(readOnly: boolean, cache: Cache): Promise<BlockNode> {
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
      return await this.#registry.openNode(tree as NodeOptions, {
        references: policyOf(this.#flags.references),
        probe: this.#flags.probe,
        signal: this.#terminal.signal,
      });
    });
  }
}

type Cache = { direct: boolean; noFlush: boolean };

function nodeWithIdentity(node: BlockNode, identity: string): BlockNode | undefined {
  if (node.location.identity === identity) return node;
  for (const child of Object.values(node.children)) {
    const found = nodeWithIdentity(child, identity);
    if (found) return found;
  }
  return undefined;
}

/** What happened to the temporary file happened to the target, which is what the user knows. */
function inName(error: unknown, { path, finalPath }: TemporaryFile): unknown {
  const [from, to] = [basename(path), basename(finalPath)];
  if (!(error instanceof BlockError) || !error.message.includes(from)) return error;
  const { code, message, driver, node, op, offset, length } = error;
  const details = { driver, node, op, offset, length, path: error.path?.replaceAll(from, to), cause: error };
  return new BlockError(code, message.replaceAll(from, to), details);
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
