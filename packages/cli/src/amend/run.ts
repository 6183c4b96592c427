import { BlockError, type Registry } from '@blockyard/core';
import { withImageFile } from '../open/file.ts';
import { withImage } from '../open/image.ts';
import type { ImageFlags } from '../options/common.ts';
import { type CreationOptions, changesFrom } from '../options/creation.ts';
import { splitPairs } from '../options/key-value.ts';
import { backingFormatMissing } from '../target/backing.ts';
import type { Terminal } from '../terminal.ts';
import { withProgress } from '../work.ts';

export interface AmendJob {
  image: string;
  /** Texts of -o. */
  options: readonly string[];
  flags: ImageFlags & { progress?: boolean };
  registry: Registry;
  terminal: Terminal;
}

interface Behind {
  name: string | undefined;
  format: string | undefined;
}

/** @returns what was asked for, by the names of the API. */
export async function amend(job: AmendJob): Promise<CreationOptions> {
  const { image, flags, registry, terminal } = job;
  const { changes, behind } = await amendFile(job);
  if (!behind) return changes;
  await withImage(image, registry, flags, terminal, { backing: null }, async (node) => {
    await node.features.changeBacking?.(behind.name, behind.format);
  });
  return changes;
}

/** All but what is recorded of a backing file, which is checked before anything is changed. */
async function amendFile({
  image,
  options,
  flags,
  registry,
  terminal,
}: AmendJob): Promise<{ changes: CreationOptions; behind: Behind | undefined }> {
  return await withImageFile(image, registry, flags, terminal, true, async ({ file, driver }) => {
    const { amend, name } = driver;
    if (!amend) {
      const text = `amend ${image}: images of the format ${name} have no options to change`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'amend', path: image, driver: name });
    }
    const changes = changesFrom(options.flatMap(splitPairs), driver, registry);
    const { backingFile, backingFormat, ...rest } = changes as {
      backingFile?: string;
      backingFormat?: string;
    };
    const named = backingFile ?? (backingFormat && (await driver.inspect?.(file))?.backingFile);
    if (backingFormat !== undefined && !named) {
      const text = `amend ${image}: backing_fmt is the format of a backing file, and there is none; say backing_file too`;
      throw new BlockError('ERR_INVALID_OPTION', text, { op: 'amend', path: image, driver: name });
    }
    if (named && backingFormat === undefined) throw backingFormatMissing(named, 'amend', image);
    if (Object.keys(rest).length > 0) {
      await withProgress(terminal, 'amend', flags, ({ signal, onProgress }) =>
        amend.call(driver, file, rest, {
          signal,
          onProgress: ({ done, total }) => onProgress?.({ done, total, zero: 0 }),
        }),
      );
    }
    const behind =
      backingFile === undefined && backingFormat === undefined
        ? undefined
        : { name: named || undefined, format: named ? backingFormat : undefined };
    return { changes, behind };
  });
}
