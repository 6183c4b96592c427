import { type AmendOptions, type BlockNode, checkOptions } from '@blockyard/core';
import { checkImage } from '../check/check-image.ts';
import { repairDirty } from '../check/repair-dirty.ts';
import { createOptions } from '../create/options.ts';
import { badOption, corrupt, marked, notPossible, unsupported } from '../failure.ts';
import { knownAutoclear } from '../features.ts';
import type { Qcow2Header } from '../header.ts';
import { readHeader } from '../read-header.ts';
import { checkTables } from '../tables.ts';
import { withFlags } from '../write/header-flags.ts';
import { writeHeader } from '../write/header-writer.ts';
import { checkDowngrade, downgrade } from './downgrade.ts';
import { amendOptions, type Qcow2AmendOptions } from './options.ts';
import { changeWidth, checkWidth } from './refcount-width.ts';
import { upgrade } from './upgrade.ts';

/**
 * Changes options of an image that nothing else has open. Everything is refused before anything is changed; then each
 * option changes in one instant, so that what is interrupted leaves some changed and some not, and a sound image.
 */
export async function amend(
  file: BlockNode,
  options: Record<string, unknown>,
  work: AmendOptions = {},
): Promise<void> {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(createOptions, name) || Object.hasOwn(amendOptions, name)) continue;
    throw badOption(file, `${name} is for new images only; ${instead[name] ?? 'convert the image'}`);
  }
  checkOptions(options, 'amending a qcow2 image', amendOptions);
  const wanted = options as Qcow2AmendOptions;
  let header = await usableHeader(file, work);
  const version = versionOf(wanted, header);
  const refcountBits = wanted.refcountBits ?? header.refcountBits;
  checkWidth(file, refcountBits);
  check(file, header, wanted, version);
  if (version !== header.version || refcountBits !== header.refcountBits) await refuseDamaged(file, work);
  if (version < header.version) await checkDowngrade(file, header, refcountBits);
  if (version > header.version) header = await upgrade(file, header);
  header = await changeWidth(file, header, refcountBits);
  const next = changed(header, wanted);
  if (next) await writeHeader(file, next);
  if (version < header.version) await downgrade(file, next ?? header, work);
}

/** What is rewritten by way of tables that cannot be relied on takes something else's place. */
async function refuseDamaged(file: BlockNode, { signal }: AmendOptions): Promise<void> {
  const { corruptions, checkErrors, findings } = await checkImage(file, { signal });
  if (corruptions + checkErrors > 0)
    throw corrupt(file, `it cannot be amended before it is repaired (check -r all): ${findings[0]}`);
}

const rebase = 'rebase the image';
const instead: Record<string, string> = { backingFile: rebase, backingFormat: rebase };

async function usableHeader(file: BlockNode, { signal }: AmendOptions): Promise<Qcow2Header> {
  const header = await readHeader(file);
  if (header.corrupt) throw marked(file);
  if (header.encryption)
    throw unsupported(file, 'it is encrypted, and encrypted images are not changed here');
  checkTables(header, file);
  if (!header.dirty) return header;
  await repairDirty(file, signal);
  return await readHeader(file);
}

function versionOf({ compat }: Qcow2AmendOptions, header: Qcow2Header): 2 | 3 {
  if (compat === undefined) return header.version;
  return compat === '0.10' || compat === 'v2' ? 2 : 3;
}

function check(file: BlockNode, header: Qcow2Header, wanted: Qcow2AmendOptions, version: 2 | 3): void {
  const needs = (what: string) => badOption(file, `${what} needs compat '1.1' (version 3 of the format)`);
  if (version === 2 && wanted.lazyRefcounts) throw needs('lazyRefcounts');
  if (version === 2 && header.version === 2 && (wanted.refcountBits ?? 16) !== 16)
    throw needs(`refcountBits ${wanted.refcountBits}`);
  if (wanted.dataFile !== undefined && !header.externalData)
    throw notPossible(file, 'dataFile is for images that have a data file, and it has none');
  if (wanted.dataFile === '')
    throw badOption(file, 'dataFile is empty; the image needs the name of its data file');
  if (wanted.dataFileRaw && !header.rawExternalData) {
    throw notPossible(
      file,
      'dataFileRaw cannot be set on an image that exists: what is in its data file may not be as the disk shows it',
    );
  }
}

/** The header with the options that are in it alone; undefined when it is that already. */
function changed(header: Qcow2Header, wanted: Qcow2AmendOptions): Qcow2Header | undefined {
  const { lazyRefcounts = header.lazyRefcounts, dataFileRaw, dataFile = header.dataFile } = wanted;
  const rawExternalData = header.rawExternalData && dataFileRaw !== false;
  const autoclearFeatures = header.autoclearFeatures & knownAutoclear;
  const same =
    lazyRefcounts === header.lazyRefcounts &&
    rawExternalData === header.rawExternalData &&
    dataFile === header.dataFile &&
    autoclearFeatures === header.autoclearFeatures;
  if (same) return undefined;
  const known = { ...header, autoclearFeatures, dataFile };
  return { ...known, ...withFlags(known, { lazyRefcounts, rawExternalData }) };
}
