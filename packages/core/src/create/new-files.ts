import type { BlockNode } from '../block-node.ts';
import type { NodeOptions } from '../driver.ts';
import { BlockError } from '../errors.ts';
import type { Registry } from '../registry.ts';
import { beside } from './beside.ts';

/** The files of an image that is being made; those that were not there before can be removed again. */
export class NewFiles {
  readonly #registry: Registry;
  readonly #image: NodeOptions;
  readonly #overwrite: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #made: NodeOptions[] = [];

  constructor(registry: Registry, image: NodeOptions, overwrite: boolean, signal: AbortSignal | undefined) {
    this.#registry = registry;
    this.#image = image;
    this.#overwrite = overwrite;
    this.#signal = signal;
  }

  async make(file: NodeOptions, size: number, preallocation: string): Promise<void> {
    const driver = this.#registry.driver(file.driver);
    if (!driver.createFile) {
      const text = `create: the driver '${driver.name}' cannot make files; open one that exists`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'create', driver: driver.name });
    }
    try {
      await driver.createFile(file, { size, preallocation, exclusive: true });
      this.#made.push(file);
    } catch (error) {
      if (!this.#overwrite || !isTaken(error)) throw error;
      await driver.createFile(file, { size, preallocation, exclusive: false });
    }
  }

  /** `CreateContext.createFile` for the image in `target`. */
  createFor(target: BlockNode): (name: string, size: number, preallocation?: string) => Promise<BlockNode> {
    return async (name, size, preallocation = 'off') => {
      const file = beside(this.#registry, this.#image, name);
      await this.#checkOther(target, name);
      await this.make(file, size, preallocation);
      return await this.#registry.openNode({ ...file, readOnly: false }, { signal: this.#signal });
    };
  }

  /** As far as their drivers can; that something could not be finished is told by the error that led here. */
  async remove(): Promise<void> {
    for (const file of this.#made.reverse())
      await this.#registry
        .driver(file.driver)
        .removeFile?.(file)
        .catch(() => {});
  }

  /** Overwriting must not empty the image itself under another name. */
  async #checkOther(target: BlockNode, name: string): Promise<void> {
    const { identity } = target.location;
    const driver = this.#registry.driver(target.driver);
    const there = await driver.locate?.(name, target).catch(() => undefined);
    if (identity === undefined || there?.location.identity !== identity) return;
    const text = `create ${target.path}: the image would need the file '${name}', which is its own; choose another name`;
    throw new BlockError('ERR_INVALID_OPTION', text, { op: 'create', path: name });
  }
}

const isTaken = (error: unknown): boolean =>
  ['ERR_TARGET_EXISTS', 'EEXIST'].includes((error as { code?: string }).code ?? '');
