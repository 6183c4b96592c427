import { resolve } from 'node:path';
import {
  type BlockDriver,
  BlockError,
  type BlockNode,
  type NodeOptions,
  type Registry,
} from '@blockyard/core';
import { fullName } from '../info/names.ts';
import type { CreationOptions } from '../options/creation.ts';
import type { BackingName } from './backing.ts';
import { findPlace, type Place } from './place.ts';
import { TemporaryFile } from './temporary.ts';

/** An image of a format that is to be made, and the data file that goes with it. */
export class NewImage {
  readonly #registry: Registry;
  readonly #driver: BlockDriver;
  readonly #options: CreationOptions;
  readonly #dataPlace: Place | undefined;
  readonly #dataFile: TemporaryFile | undefined;
  #dataMade = false;

  private constructor(
    registry: Registry,
    driver: BlockDriver,
    options: CreationOptions,
    dataPlace: Place | undefined,
  ) {
    this.#registry = registry;
    this.#driver = driver;
    this.#options = options;
    this.#dataPlace = dataPlace;
    if (dataPlace?.kind === 'new')
      this.#dataFile = new TemporaryFile(dataPlace.path, dataPlace.mode !== undefined);
  }

  /** Nothing is touched yet. @throws BlockError when its data file is there and must not be touched. */
  static async plan(
    registry: Registry,
    driver: BlockDriver,
    options: CreationOptions,
    path: string,
    overwrite: boolean,
  ): Promise<NewImage> {
    const { dataFile, backingFile } = options as { dataFile?: string; backingFile?: string };
    if (backingFile !== undefined && resolve(fullName(backingFile, path)) === resolve(path)) {
      const text = `write to ${path}: it would be its own backing file; choose another`;
      throw new BlockError('ERR_REFERENCE_CHAIN', text, { op: 'create', path });
    }
    if (dataFile === undefined) return new NewImage(registry, driver, options, undefined);
    const own = fullName(dataFile, path);
    if (resolve(own) === resolve(path)) {
      const text = `write to ${path}: its data file has the same name; choose another for -o data_file`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'create', path });
    }
    const place = await findPlace(own, { noCreate: false, overwrite });
    return new NewImage(registry, driver, options, place);
  }

  get backing(): BackingName | undefined {
    const { backingFile: name, backingFormat: format } = this.#options as {
      backingFile?: string;
      backingFormat?: string;
    };
    return name === undefined ? undefined : { name, format };
  }

  /** Before anything is made. @throws BlockError for options that contradict each other. */
  check(size: number): void {
    this.#driver.measure?.({ ...this.#options, size }, { allocated: () => 0 });
  }

  /** Makes the image in an empty file. */
  async create(file: BlockNode, size: number, signal: AbortSignal): Promise<void> {
    const opened: BlockNode[] = [];
    const context = {
      registry: this.#registry,
      signal,
      createFile: async (_name: string, bytes: number, preallocation?: string) => {
        const node = await this.#createData(bytes, preallocation, signal);
        opened.push(node);
        return node;
      },
    };
    try {
      await this.#driver.create?.(file, { ...this.#options, size }, context);
    } finally {
      for (const node of opened) await node.close();
    }
  }

  /** Options of the image's node, when it is opened before its files have their names. */
  get openOptions(): { dataFile?: NodeOptions } {
    const place = this.#dataPlace;
    return place
      ? { dataFile: { driver: 'file', filename: this.#dataFile?.path ?? place.path } as NodeOptions }
      : {};
  }

  async finish(sync: boolean): Promise<void> {
    const place = this.#dataPlace;
    if (this.#dataMade) await this.#dataFile?.finish(place?.kind === 'new' ? place.mode : undefined, sync);
  }

  /** @returns in which state the data file is left, where there is one. */
  async discard(): Promise<string | undefined> {
    return this.#dataMade ? await this.#dataFile?.discard() : undefined;
  }

  async #createData(
    size: number,
    preallocation: string | undefined,
    signal: AbortSignal,
  ): Promise<BlockNode> {
    const place = this.#dataPlace;
    const { createFile } = this.#registry.driver('file');
    if (!place || !createFile) throw new TypeError('the image asks for a file that is not its data file');
    const options = { driver: 'file', filename: this.#dataFile?.path ?? place.path };
    this.#dataFile?.made();
    const exclusive = this.#dataFile !== undefined;
    await createFile(options as never, { size, exclusive, ...(preallocation ? { preallocation } : {}) });
    this.#dataMade = true;
    return await this.#registry.openNode({ ...options, readOnly: false, discard: 'unmap' } as NodeOptions, {
      signal,
    });
  }
}
