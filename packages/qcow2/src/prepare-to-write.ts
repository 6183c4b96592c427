import type { BlockNode } from '@blockyard/core';
import { repairDirty } from './check/repair-dirty.ts';
import { badOption, marked } from './failure.ts';
import { knownAutoclear } from './features.ts';
import type { Qcow2Header } from './header.ts';
import type { Qcow2Options } from './options.ts';
import { readHeader } from './read-header.ts';
import { writeHeader } from './write/header-writer.ts';

/** The header of an image that is going to be written: sound, and saying nothing that writing makes untrue. */
export async function prepareToWrite(file: BlockNode, options: Qcow2Options): Promise<Qcow2Header> {
  let header = await readHeader(file);
  if (options.snapshot !== undefined)
    throw badOption(file, 'a snapshot cannot be written; open it with readOnly: true, or apply it first');
  if (header.corrupt) throw marked(file);
  if (header.dirty) {
    await repairDirty(file);
    header = await readHeader(file);
  }
  const unknown = header.autoclearFeatures & ~knownAutoclear;
  if (unknown === 0n) return header;
  const cleared = { ...header, autoclearFeatures: header.autoclearFeatures & knownAutoclear };
  await writeHeader(file, cleared);
  return cleared;
}
