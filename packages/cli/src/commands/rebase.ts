import { BlockError, type BlockNode, protocolNode, type Registry } from '@blockyard/core';
import { type RebaseResult, rebase } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { UsageError } from '../exit.ts';
import { withImage } from '../open/image.ts';
import { checkFormat } from '../open/source.ts';
import {
  type ImageFlags,
  imageOptions,
  type OutputFlags,
  outputOptions,
  type WorkFlags,
  workOptions,
} from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { formatBytes } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { cliRegistry } from '../registry.ts';
import { backingFormatMissing, openBacking } from '../target/backing.ts';
import type { Terminal } from '../terminal.ts';
import { leaving, withProgress } from '../work.ts';

const help = `
The disk stays what it is: what the old and the new backing file show differently is
written into the image first. With -u only the name is recorded, for a backing file that
was renamed or moved; nothing is opened, and the disk shows whatever is in the new one.
The name starts where the image is.

Examples:
  blockyard rebase -b other-base.qcow2 -F qcow2 overlay.qcow2
  blockyard rebase -b '' overlay.qcow2                                no backing file any more
  blockyard rebase -u -b images/base.qcow2 -F qcow2 overlay.qcow2     it was moved
`;

interface RebaseFlags extends ImageFlags, OutputFlags, WorkFlags {
  backing?: string;
  backingFormat?: string;
  unsafe?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command.description('Puts another backing file behind an image.').argument('<image>');
  command
    .option('-b, --backing <file>', "the new backing file; '' for none")
    .option('-F, --backing-format <format>', 'format of the new backing file')
    .option('-u, --unsafe', 'only record the name');
  outputOptions(workOptions(imageOptions(command))).addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<RebaseFlags>();
    applyOutput(terminal, flags);
    const { unsafe = false } = flags;
    const registry = cliRegistry();
    checkFlags(flags, image, registry);
    await withImage(image, registry, flags, terminal, unsafe ? { backing: null } : {}, async (node) => {
      const result = await run(node, image, flags, registry, terminal);
      tell(image, flags, result, terminal);
    });
  });
}

function checkFlags(
  { backing, backingFormat, unsafe }: RebaseFlags,
  image: string,
  registry: Registry,
): void {
  if (backing === undefined) throw new UsageError("say the new backing file with -b; -b '' for none");
  if (backing === '' && backingFormat !== undefined)
    throw new UsageError("-F is the format of the new backing file, and -b '' is for none; leave it out");
  if (backingFormat !== undefined) checkFormat(registry, backingFormat);
  else if (unsafe && backing !== '') throw backingFormatMissing(backing, 'rebase', image);
}

async function run(
  node: BlockNode,
  image: string,
  flags: RebaseFlags,
  registry: Registry,
  terminal: Terminal,
): Promise<RebaseResult> {
  const { backing, backingFormat: format, unsafe = false, references, probe } = flags;
  const name = backing || undefined;
  const { signal } = terminal;
  const path = protocolNode(node).path || image;
  let newBacking: BlockNode | undefined;
  if (name !== undefined && !unsafe) {
    try {
      const settings = { op: 'rebase', image: path, references, probe, signal };
      newBacking = await openBacking({ name, format }, registry, settings);
    } catch (error) {
      if (!(error instanceof BlockError) || error.code !== 'ENOENT') throw error;
      const text = `rebase ${image}: the new backing file: ${error.message}; -u records the name all the same`;
      throw new BlockError('ENOENT', text, { op: 'rebase', path: error.path, cause: error });
    }
  }
  try {
    const left = `${image} shows what it did, and names the backing file that it did; say the same again`;
    const change = { newBacking, name, format: name === undefined ? undefined : format, unsafe };
    return await withProgress(terminal, 'rebase', flags, (options) =>
      leaving(left, options, (watched) => rebase(node, { ...watched, ...change })),
    );
  } finally {
    await newBacking?.close();
  }
}

function tell(image: string, flags: RebaseFlags, result: RebaseResult, terminal: Terminal): void {
  const { backing, backingFormat, unsafe } = flags;
  if (terminal.json) {
    const behind = backing ? { 'backing-filename': backing, 'backing-filename-format': backingFormat } : {};
    return terminal.printJson({ image, ...behind, ...result });
  }
  if (terminal.quiet) return;
  const behind = backing ? `backed by ${printable(backing)} (${backingFormat})` : 'no backing file any more';
  const moved = unsafe
    ? 'only the name was recorded'
    : `${formatBytes(result.bytesWritten + result.bytesZeroWritten)} written to keep the disk what it is`;
  terminal.print(`${printable(image)}: ${behind}; ${moved}`);
}
