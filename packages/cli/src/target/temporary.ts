import { unlinkSync } from 'node:fs';
import { chmod, link, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BlockError } from '@blockyard/core';
import { lastWishes } from '../signals.ts';

/** Longest name that every file system takes, less what is added. */
const longestName = 255 - 18;

/** A name in the same directory that no one takes for the finished file: '.vm.raw.1f2e3d4c.partial'. */
export function temporaryName(path: string): string {
  let name = basename(path);
  while (Buffer.byteLength(name) > longestName) name = name.slice(0, -1);
  // Not a secret: the file is made exclusively.
  const unique = Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
  return join(dirname(path), `.${name}.${unique}.partial`);
}

/** A file that has its real name only when it is finished. */
export class TemporaryFile {
  readonly path: string;
  readonly finalPath: string;
  readonly #replace: boolean;
  readonly #wish = () => {
    try {
      unlinkSync(this.path);
    } catch {
      // The process is ending; there is nobody left to tell.
    }
  };

  /** `replace`: whether a file of the final name may be replaced. */
  constructor(finalPath: string, replace: boolean) {
    this.finalPath = finalPath;
    this.path = temporaryName(finalPath);
    this.#replace = replace;
  }

  /** To be called as soon as the file exists. */
  made(): void {
    lastWishes.add(this.#wish);
  }

  /** Gives the file its name, durably unless `sync` is false. */
  async finish(mode: number | undefined, sync: boolean): Promise<void> {
    if (mode !== undefined) await chmod(this.path, mode);
    if (this.#replace) await rename(this.path, this.finalPath);
    else await this.#nameExclusively();
    lastWishes.delete(this.#wish);
    if (sync) await syncDirectory(dirname(this.finalPath));
  }

  /** Removes the file. @returns in which state things are left, for the user. */
  async discard(): Promise<string> {
    lastWishes.delete(this.#wish);
    try {
      await unlink(this.path);
    } catch (error) {
      return `the unfinished ${this.path} could not be removed (${(error as Error).message}); ${this.#state()}`;
    }
    return `the unfinished copy was removed; ${this.#state()}`;
  }

  #state(): string {
    return this.#replace ? `${this.finalPath} is as it was` : `${this.finalPath} was not made`;
  }

  /** A rename would replace a file that somebody made in the meantime. */
  async #nameExclusively(): Promise<void> {
    try {
      await link(this.path, this.finalPath);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') {
        const text = `write to ${this.finalPath}: somebody made a file of this name in the meantime; choose another name, or say --overwrite`;
        throw new BlockError('ERR_TARGET_EXISTS', text, { op: 'create', path: this.finalPath, cause: error });
      }
      // A file system without hard links.
      return await rename(this.path, this.finalPath);
    }
    await unlink(this.path);
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems have nothing to sync in a directory.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await directory.close();
  }
}
