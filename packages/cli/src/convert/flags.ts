import { BlockError, type Registry } from '@blockyard/core';
import type { CacheMode } from '../options/cache.ts';
import type { OutputFlags, SourceFlags, WorkFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';

/** The options of `convert`, as commander gives them. */
export interface ConvertFlags extends SourceFlags, OutputFlags, WorkFlags {
  targetFormat: string;
  options?: string[];
  sourceOptions?: string[];
  cache: CacheMode;
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
}

/** One `convert` command. */
export interface ConvertJob {
  source: string;
  target: string;
  flags: ConvertFlags;
  registry: Registry;
  terminal: Terminal;
}

/** @throws BlockError for what this version cannot write. */
export function checkTargetFormat({ flags, registry }: ConvertJob): void {
  const { targetFormat: format, compress, backing } = flags;
  const refuse = (text: string, code: 'ERR_NOT_SUPPORTED' | 'ERR_UNKNOWN_DRIVER' = 'ERR_NOT_SUPPORTED') => {
    throw new BlockError(code, `convert: ${text}`, { op: 'convert', driver: format });
  };
  if (format !== 'raw') {
    if (registry.drivers.get(format)?.kind === 'format')
      refuse(`writing ${format} comes in a later version; -O raw is what this one writes`);
    refuse(`no format is named '${format}'; -O raw is what this version writes`, 'ERR_UNKNOWN_DRIVER');
  }
  if (compress) refuse('-c: a raw target cannot store compressed data; leave out -c');
  if (backing !== undefined) refuse('-B: a raw target has no backing file; leave out -B');
}
