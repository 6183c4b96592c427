import { BlockError, type Registry } from '@blockyard/core';
import type { CacheMode } from '../options/cache.ts';
import type { OutputFlags, SourceFlags, WorkFlags } from '../options/common.ts';
import { makerOf } from '../options/creation.ts';
import { parseTargetOptions } from '../target/options.ts';
import type { TargetFlags } from '../target/target.ts';
import type { Terminal } from '../terminal.ts';

/** The options of `convert`, as commander gives them. */
export interface ConvertFlags extends SourceFlags, OutputFlags, WorkFlags {
  targetFormat: string;
  options?: string[];
  sourceOptions?: string[];
  /** Of the target. */
  cache: CacheMode;
  sourceCache?: string;
  compress?: boolean;
  noCreate: boolean;
  overwrite?: boolean;
  snapshot?: string;
  backing?: string;
  backingFormat?: string;
  sparse: string;
  outOfOrder?: boolean;
  offload?: boolean;
  targetIsZero?: boolean;
  targetImageOpts?: boolean;
  verify?: boolean;
  bitmaps?: boolean;
  skipBrokenBitmaps?: boolean;
  salvage?: boolean;
}

/** One `convert` command. */
export interface ConvertJob {
  /** More than one: they follow one another in the target. */
  sources: readonly string[];
  target: string;
  flags: ConvertFlags;
  registry: Registry;
  terminal: Terminal;
}

/** @throws BlockError for what images of the format cannot be or have. */
export function checkTargetFormat(job: ConvertJob): void {
  const { flags, registry, target } = job;
  const { targetFormat: format, compress, backing, bitmaps } = flags;
  const refuse = (text: string) => {
    throw new BlockError('ERR_NOT_SUPPORTED', `convert: ${text}`, { op: 'convert', driver: format });
  };
  makerOf(registry, format);
  parseTargetOptions(targetFlags(job), registry);
  if (format !== 'raw') {
    if (target === '-' && !flags.targetImageOpts)
      refuse(
        `-O ${format}: a ${format} image needs random access, which standard output has not; name a file`,
      );
    return;
  }
  if (compress) refuse('-c: a raw target cannot store compressed data; leave out -c, or say -O qcow2');
  if (backing !== undefined) refuse('-B: a raw target has no backing file; leave out -B, or say -O qcow2');
  if (bitmaps) refuse('--bitmaps: a raw target has no bitmaps; leave it out, or say -O qcow2');
}

/** What the target of a job is found with. */
export function targetFlags({ flags }: ConvertJob): TargetFlags {
  const { targetFormat: format, noCreate, overwrite = false, cache, aio, options = [] } = flags;
  const { backing, backingFormat, references, probe, targetImageOpts: imageOpts } = flags;
  const creation = backing === undefined || noCreate ? {} : { backingFile: backing, backingFormat };
  return { format, cache, aio, noCreate, overwrite, imageOpts, options, creation, references, probe };
}
