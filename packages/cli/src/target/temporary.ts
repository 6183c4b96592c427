import { unlinkSync } from 'node:fs';
import { chmod, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BlockError, systemError } from '@blockyard/core';
import { lastWishes } from '../signals.ts';

/** Longest name that every file system takes, less what is added. */
const longestName = 255 - 18;

/** What systems say where hard links do not exist, or not for this file. */
const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

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
  /** Whether the file has its final name. */
  #named = false;
  /** Whether the temporary name may be there. */
  #temporary = true;
  #durable = true;
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

  /** Gives the file its name, durably unless `sync` is false. After a failure `discard` tells what became of it. */
  async finish(mode: number | undefined, sync: boolean): Promise<void> {
    const failed = (cause: unknown, op: string, doing: string) =>
      systemError(cause, `write to ${this.finalPath}: ${doing}`, { op, path: this.finalPath });
    try {
      if (mode !== undefined) await chmod(this.path, mode);
      if (this.#replace) await this.#rename();
      else await this.#nameExclusively();
    } catch (error) {
      throw failed(error, 'rename', 'the finished copy could not be given its name');
    }
    let failure: BlockError | undefined;
    if (this.#temporary) {
      try {
        await unlink(this.path);
        this.#temporary = false;
      } catch (error) {
        failure = failed(error, 'unlink', 'its temporary name could not be removed');
      }
    }
    lastWishes.delete(this.#wish);
    if (sync) {
      try {
        await syncDirectory(dirname(this.finalPath));
      } catch (error) {
        this.#durable = false;
        failure = failed(error, 'flush', 'its directory could not be flushed');
      }
    }
    if (failure) throw failure;
  }

  /** Removes the file, or what is too much of it. @returns in which state things are left, for the user. */
  async discard(): Promise<string> {
    lastWishes.delete(this.#wish);
    let removed = '';
    if (this.#temporary) {
      try {
        await unlink(this.path);
        removed = this.#named ? '' : 'the unfinished copy was removed; ';
      } catch (error) {
        const what = this.#named ? 'its temporary name' : 'the unfinished';
        const text = `${what} ${this.path} could not be removed (${(error as Error).message})`;
        return this.#named ? `${this.#state()}; ${text}` : `${text}; ${this.#state()}`;
      }
    }
    return `${removed}${this.#state()}`;
  }

  #state(): string {
    if (this.#named) {
      const risk = this.#durable ? '' : ', but it may not survive a power cut';
      return `the copy is complete under its name ${this.finalPath}${risk}`;
    }
    return this.#replace ? `${this.finalPath} is as it was` : `${this.finalPath} was not made`;
  }

  async #rename(): Promise<void> {
    await rename(this.path, this.finalPath);
    this.#named = true;
    this.#temporary = false;
  }

  /** A rename would replace a file that somebody made in the meantime. */
  async #nameExclusively(): Promise<void> {
    try {
      await link(this.path, this.finalPath);
      this.#named = true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'EEXIST' || (noHardLinks.has(code) && (await exists(this.finalPath)))) {
        const text = `write to ${this.finalPath}: somebody made a file of this name in the meantime; choose another name, or say --overwrite`;
        throw new BlockError('ERR_TARGET_EXISTS', text, { op: 'create', path: this.finalPath, cause: error });
      }
      if (!noHardLinks.has(code)) throw error;
      await this.#rename();
    }
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
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
