import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BlockError, type BlockNode, protocolNode, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import { parseImage } from '../open/argument.ts';
import { type CreationOptions, creationFrom, makerOf } from '../options/creation.ts';
import { splitPairs } from '../options/key-value.ts';
import { parseSize } from '../options/size.ts';
import { formatBytes, formatExact } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { type BackingName, backingFormatMissing, openBacking } from '../target/backing.ts';
import { Target } from '../target/target.ts';
import { wholeSectors } from '../target/whole-sectors.ts';
import type { Terminal } from '../terminal.ts';

export interface CreateFlags {
  format: string;
  options?: string[];
  backing?: string;
  backingFormat?: string;
  unsafe?: boolean;
  overwrite?: boolean;
  references?: string;
  probe?: boolean;
}

export interface CreateJob {
  name: string;
  size: string | undefined;
  flags: CreateFlags;
  registry: Registry;
  terminal: Terminal;
}

/** Makes an image without content. Whatever goes wrong, nothing is left of it. */
export async function create(job: CreateJob): Promise<void> {
  const { name, flags, registry, terminal } = job;
  if (parseImage(name, registry).kind !== 'name') throw new UsageError('create makes a file: give its name');
  const { format, options = [], overwrite = false } = flags;
  const driver = makerOf(registry, format);
  const creation: CreationOptions =
    format === 'raw' ? {} : creationFrom(options.flatMap(splitPairs), driver, registry);
  const backing = backingOf(flags, creation, name);
  const given = sizeOf(job, creation);
  // Before anything is made, and after nothing can be wrong with the words.
  const target = await Target.find(
    name,
    registry,
    {
      format,
      cache: 'writeback',
      noCreate: false,
      overwrite,
      options: format === 'raw' ? options : [],
      creation: { ...creation, ...namesOf(backing) },
    },
    terminal,
  );
  try {
    const size = wholeSectors(await checkBacking(job, backing, given), format, terminal);
    await target.make(size);
    await target.finish();
    tell(job, size, backing);
  } catch (error) {
    throw await target.failed(error);
  }
}

/** -b and -F, or what -o says of them. */
function backingOf(flags: CreateFlags, creation: CreationOptions, image: string): BackingName | undefined {
  const { backingFile, backingFormat } = creation as { backingFile?: string; backingFormat?: string };
  if (flags.backing !== undefined && backingFile !== undefined)
    throw new UsageError('-b and -o backing_file say the same: choose one');
  if (flags.backingFormat !== undefined && backingFormat !== undefined)
    throw new UsageError('-F and -o backing_fmt say the same: choose one');
  const name = flags.backing ?? backingFile;
  const format = flags.backingFormat ?? backingFormat;
  if (name === undefined) {
    if (format !== undefined)
      throw new UsageError('-F is the format of the backing file (-b), which is missing');
    return undefined;
  }
  if (name === '') throw new UsageError('-b: the name of the backing file is empty');
  if (flags.format === 'raw') {
    const text = `create ${image}: a raw image has no backing file; leave out -b, or say -f qcow2`;
    throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'create', path: image });
  }
  if (format === undefined && flags.unsafe) throw backingFormatMissing(name, 'create', image);
  return { name, format };
}

const namesOf = (backing: BackingName | undefined): CreationOptions =>
  backing ? { backingFile: backing.name, backingFormat: backing.format } : {};

function sizeOf({ size, flags }: CreateJob, creation: CreationOptions): number | undefined {
  const { size: ofOptions } = creation as { size?: number };
  delete creation.size;
  if (size !== undefined && ofOptions !== undefined)
    throw new UsageError('the size is given twice: as an argument and with -o size');
  const bytes = size === undefined ? ofOptions : parseSize(size, 'size');
  if (
    bytes === undefined &&
    (flags.backing === undefined || flags.unsafe) &&
    creation.backingFile === undefined
  )
    throw new UsageError(
      flags.unsafe && flags.backing !== undefined
        ? 'the size is missing: with -u the backing file is not opened, and cannot tell it'
        : 'the size is missing: blockyard create ... <name> <size>, as in 20G',
    );
  return bytes;
}

/** That it is there and can be read; without a size it says how large the disk is. */
async function checkBacking(
  { name, flags, registry, terminal }: CreateJob,
  backing: BackingName | undefined,
  size: number | undefined,
): Promise<number> {
  if (!backing || flags.unsafe) return size as number;
  const { references, probe } = flags;
  const { signal } = terminal;
  let node: BlockNode;
  try {
    node = await openBacking(backing, registry, { op: 'create', image: name, references, probe, signal });
  } catch (error) {
    if (!(error instanceof BlockError) || error.code !== 'ENOENT') throw error;
    const text = `create ${name}: its backing file: ${error.message}; -u makes the image all the same`;
    throw new BlockError('ENOENT', text, { op: 'create', path: error.path, cause: error });
  }
  try {
    await noteElsewhere(name, node, terminal);
    return size ?? node.size;
  } finally {
    await node.close();
  }
}

/** Names that lead out of the directory are only followed when that is asked for. */
async function noteElsewhere(name: string, backing: BlockNode, terminal: Terminal): Promise<void> {
  const { directory } = protocolNode(backing).location;
  if (directory === undefined || directory === (await realpath(dirname(name)).catch(() => directory))) return;
  terminal.notice(
    `the backing file is not in the directory of ${name}: what opens the image needs --references allow`,
  );
}

function tell({ name, flags, terminal }: CreateJob, size: number, backing: BackingName | undefined): void {
  const { format } = flags;
  if (terminal.json) {
    const behind = backing
      ? { 'backing-filename': backing.name, 'backing-filename-format': backing.format }
      : {};
    return terminal.printJson({ filename: name, format, 'virtual-size': size, ...behind });
  }
  if (terminal.quiet) return;
  const behind = backing ? `, backed by ${printable(backing.name)} (${backing.format})` : '';
  const exact = formatBytes(size).startsWith(`${size} `) ? formatBytes(size) : formatExact(size);
  terminal.print(`${printable(name)}: ${format}, ${exact}${behind}`);
}
