import { BlockNode } from './block-node.ts';
import { createImage, type ImageCreation } from './create.ts';
import { Disk } from './disk.ts';
import type { BlockDriver, ChildOptions, ImageInformation, NodeOptions, OpenContext } from './driver.ts';
import { raw } from './drivers/raw.ts';
import { BlockError } from './errors.ts';
import { Gate, type ReferencePolicy } from './gate.ts';
import { validateOptions } from './options/validate.ts';
import { probeFormat } from './probe.ts';

/** How a name or an options tree is opened. */
export interface OpenSettings {
  /** Format driver for a plain name, or for a tree without `driver`. */
  format?: string | undefined;
  /** Look at the first bytes to find the format, for the image and for what it names. Never assumed. */
  probe?: boolean | undefined;
  /** Which names found inside images are followed; 'deny' unless said. */
  references?: ReferencePolicy | undefined;
  /** Options for the root node when opening a plain name: readOnly, cache, discard, or the driver's own. */
  options?: Record<string, unknown> | undefined;
  /** Options for the `file` node when opening a plain name. */
  fileOptions?: Record<string, unknown> | undefined;
  signal?: AbortSignal | undefined;
}

/** A name, an options tree, or a tree whose format is left to `settings` ({ file: ... }). */
export type Openable = string | NodeOptions | { driver?: undefined; file: NodeOptions };

const settingNames = ['format', 'probe', 'references', 'options', 'fileOptions', 'signal'];

/** An option in the wrong place would be left out in silence: a disk meant to be read-only would not be. */
function checkSettings(settings: OpenSettings): void {
  for (const name of Object.keys(settings)) {
    if (settingNames.includes(name)) continue;
    throw new TypeError(
      `open: no setting is named '${name}'; there are ${settingNames.join(', ')}. Options of the node go into { options: { ${name}: ... } }`,
    );
  }
}

/** A set of drivers. A value, not a global: what is not in it cannot be opened, by a user or by an image. */
export class Registry {
  readonly drivers: ReadonlyMap<string, BlockDriver>;

  constructor(drivers: Iterable<BlockDriver>) {
    const known = new Map<string, BlockDriver>([['raw', raw() as BlockDriver]]);
    for (const driver of drivers) {
      if (known.has(driver.name))
        throw new TypeError(`createRegistry: two drivers are named '${driver.name}'`);
      known.set(driver.name, driver);
    }
    this.drivers = known;
  }

  driverForScheme(scheme: string): BlockDriver | undefined {
    for (const driver of this.drivers.values()) if (driver.schemes?.includes(scheme)) return driver;
    return undefined;
  }

  /** Opens a graph and gives the user's handle on its root. */
  async open(what: Openable, settings: OpenSettings = {}): Promise<Disk> {
    return new Disk(await this.openNode(what, settings));
  }

  /** Opens a graph and gives its root node, for operations and drivers. */
  async openNode(what: Openable, settings: OpenSettings = {}): Promise<BlockNode> {
    checkSettings(settings);
    const gate = this.#gate(settings);
    return await this.#open(await this.#resolve(what, settings), '', {}, gate, settings.signal);
  }

  /**
   * What the image says of itself. Opens nothing that it names.
   * A raw image tells its size.
   */
  async inspect(what: Openable, settings: OpenSettings = {}): Promise<ImageInformation> {
    checkSettings(settings);
    const readOnly = { ...settings, options: { ...settings.options, readOnly: true } };
    const options = await this.#resolve(what, readOnly);
    const driver = this.driver(options.driver, '');
    const below = options.file as NodeOptions | undefined;
    if (!driver.inspect || !below) {
      const node = await this.#open(options, '', {}, this.#gate(readOnly), settings.signal);
      try {
        return { format: driver.kind === 'format' ? driver.name : 'raw', virtualSize: node.size };
      } finally {
        await node.close();
      }
    }
    const file = await this.#open(below, 'file', { readOnly: true }, this.#gate(readOnly), settings.signal);
    try {
      return await driver.inspect(file);
    } finally {
      await file.close();
    }
  }

  /**
   * Makes a new image of the format 'raw' unless another is said. What is there already is left alone, and an error,
   * unless `overwrite` is said.
   * @throws BlockError EEXIST and what else the system says; ERR_NOT_SUPPORTED where a driver cannot make images.
   */
  async create(what: string | NodeOptions, creation: ImageCreation): Promise<void> {
    const options = typeof what === 'string' ? this.parseName(what) : what;
    await createImage(this, options, creation);
  }

  /** The options that a plain name stands for: the protocol driver's own, before any format. */
  parseName(name: string): NodeOptions {
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase();
    const driver = scheme ? this.driverForScheme(scheme) : this.drivers.get('file');
    if (!driver?.parseName) {
      const text = scheme
        ? `open ${name}: no registered driver speaks ${scheme}://; for a file of that name write ./${name}`
        : `open ${name}: no driver named 'file' is registered; add rawPosix() from @blockyard/raw-posix`;
      throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op: 'open', path: name });
    }
    return driver.parseName(name);
  }

  #gate(settings: OpenSettings): Gate {
    const open = (options: NodeOptions, gate: Gate, readOnly: boolean | undefined) =>
      this.#open(options, '', readOnly === undefined ? {} : { readOnly }, gate, settings.signal);
    return new Gate(this, open, settings.references ?? 'deny', settings.probe ?? false);
  }

  /** @throws BlockError ERR_UNKNOWN_DRIVER, naming `path` in an options tree and the drivers that there are. */
  driver(name: unknown, path = ''): BlockDriver {
    const driver = typeof name === 'string' ? this.drivers.get(name) : undefined;
    if (driver) return driver;
    const where = path ? `${path}.driver` : 'driver';
    const text = `${where}: no driver named '${String(name)}' is registered; there are ${[...this.drivers.keys()].join(', ')}`;
    throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op: 'open' });
  }

  /** From what the user wrote to a tree that names its driver. */
  async #resolve(what: Openable, settings: OpenSettings): Promise<NodeOptions> {
    if (typeof what === 'object' && what.driver !== undefined)
      return { ...what, ...settings.options } as NodeOptions;
    const { cache, readOnly } = (settings.options ?? {}) as { cache?: object; readOnly?: boolean };
    const file: NodeOptions =
      typeof what === 'string'
        ? { ...this.parseName(what), ...settings.fileOptions }
        : (what.file as NodeOptions);
    const format =
      settings.format ??
      (settings.probe ? await this.#probe(file, { cache, readOnly: true }, settings) : undefined);
    if (format === undefined) {
      const name = typeof what === 'string' ? what : 'the tree';
      const text = `open ${name}: the format is not said; give format: 'qcow2' (or 'raw', ...), or probe: true to guess it from the first bytes`;
      throw new BlockError('ERR_FORMAT_REQUIRED', text, { op: 'open' });
    }
    const probed = format === 'raw' && settings.format === undefined ? { probed: true } : {};
    return {
      ...(readOnly === undefined ? {} : { readOnly }),
      ...settings.options,
      driver: format,
      ...probed,
      file,
    };
  }

  async #probe(
    file: NodeOptions,
    inherited: Record<string, unknown>,
    settings: OpenSettings,
  ): Promise<string> {
    const node = await this.#open(file, 'file', inherited, this.#gate(settings), settings.signal);
    try {
      return await probeFormat(node, this.drivers.values());
    } finally {
      await node.close();
    }
  }

  async #open(
    options: NodeOptions,
    path: string,
    inherited: Record<string, unknown>,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): Promise<BlockNode> {
    signal?.throwIfAborted();
    const driver = this.driver(options.driver, path);
    validateOptions(options, driver.name, driver.options, path);
    const context = this.#context(driver, options, path, inherited, gate, signal);
    const node = await driver.open(options, context);
    try {
      await node.refreshLimits();
      return node;
    } catch (error) {
      await node.close().catch(() => {});
      throw error;
    }
  }

  #context(
    driver: BlockDriver,
    options: NodeOptions,
    path: string,
    inherited: {
      readOnly?: boolean;
      cache?: { direct?: boolean; noFlush?: boolean };
      discard?: 'ignore' | 'unmap';
    },
    gate: Gate,
    signal: AbortSignal | undefined,
  ): OpenContext {
    const cache = { ...inherited.cache, ...options.cache };
    const common: OpenContext['common'] = {
      nodeName: options.nodeName,
      // What is above decides: a writable child below a read-only node would take the lock of a writer for nothing.
      readOnly: inherited.readOnly === true || (options.readOnly ?? false),
      discard: options.discard ?? inherited.discard ?? 'ignore',
      detectZeroes: options.detectZeroes ?? 'off',
      cache: { direct: cache.direct ?? false, noFlush: cache.noFlush ?? false },
    };
    const openChild: OpenContext['openChild'] = async (role, given, overrides = {}) => {
      if (given instanceof BlockNode) return given.retain();
      const child = given as ChildOptions as NodeOptions;
      const readOnly = role === 'backing' ? true : (overrides.readOnly ?? common.readOnly);
      const discard = driver.kind === 'format' && role !== 'backing' ? 'unmap' : common.discard;
      const where = path ? `${path}.${role}` : role;
      return await this.#open(child, where, { readOnly, cache: common.cache, discard }, gate, signal);
    };
    return { registry: this, gate, signal, path, common, openChild };
  }
}

export function createRegistry(drivers: Iterable<BlockDriver<never>> | Iterable<BlockDriver>): Registry {
  return new Registry(drivers as Iterable<BlockDriver>);
}
