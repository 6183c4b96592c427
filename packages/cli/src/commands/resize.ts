import { BlockError, type BlockNode } from '@blockyard/core';
import { type Command, Option } from 'commander';
import { UsageError } from '../exit.ts';
import { withImage } from '../open/image.ts';
import { type ImageFlags, imageOptions, type OutputFlags, outputOptions } from '../options/common.ts';
import { parseSize } from '../options/size.ts';
import { applyOutput } from '../output/apply.ts';
import { formatBytes, formatExact } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { cliRegistry } from '../registry.ts';
import { wholeSectors } from '../target/whole-sectors.ts';
import type { Terminal } from '../terminal.ts';

const help = `
+SIZE and -SIZE are added and taken away. What is added reads as zeroes. What is cut
off is lost: that needs --shrink; make partitions and file systems smaller first. A raw
image needs -f raw.

Examples:
  blockyard resize vm.qcow2 40G
  blockyard resize vm.qcow2 +10G
  blockyard resize --shrink -f raw disk.raw -512M
`;

const preallocations = ['off', 'metadata', 'falloc', 'full'] as const;

interface ResizeFlags extends ImageFlags, OutputFlags {
  shrink?: boolean;
  preallocation: (typeof preallocations)[number];
}

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Changes the size of the disk that a guest sees.')
    .argument('<image>')
    .argument('<size>', 'the new size, or with a sign the change');
  command
    .option('--shrink', 'allow to cut off the end of the disk')
    .addOption(
      new Option('--preallocation <mode>', 'how space for what is added is provided')
        .choices(preallocations)
        .default('off'),
    );
  outputOptions(imageOptions(command)).addHelpText('after', help);
  command.action(async (image: string, size: string) => {
    const flags = command.opts<ResizeFlags>();
    applyOutput(terminal, flags);
    const change = parseChange(size);
    await withImage(image, cliRegistry(), flags, terminal, {}, async (node) => {
      const before = node.size;
      const after = wholeSectors(change(before), node.kind === 'format' ? node.driver : 'raw', terminal);
      await resize(node, image, after, flags, terminal);
      if (terminal.json) terminal.printJson({ image, before, size: node.size });
      else if (!terminal.quiet) {
        const how = after === before ? 'has this size already' : `resized from ${formatBytes(before)}`;
        terminal.print(`${printable(image)}: ${formatExact(node.size)}, ${how}`);
      }
    });
  });
}

/** '10G' is a size, '+10G' and '-10G' a change. */
function parseChange(text: string): (before: number) => number {
  const sign = /^[+-]/.exec(text)?.[0];
  const bytes = parseSize(sign ? text.slice(1) : text, 'size');
  if (!sign) return () => bytes;
  return (before) => {
    const after = sign === '+' ? before + bytes : before - bytes;
    if (after < 0)
      throw new UsageError(`size: ${text} takes away more than the ${formatExact(before)} that there are`);
    return after;
  };
}

async function resize(
  node: BlockNode,
  image: string,
  size: number,
  { shrink = false, preallocation }: ResizeFlags,
  terminal: Terminal,
): Promise<void> {
  const { size: before } = node;
  if (size < before && !shrink) {
    const text = `resize ${image}: ${formatExact(before - size)} at the end of the disk would be cut off, and what they hold lost; say --shrink if that is meant`;
    throw new BlockError('ERR_OUT_OF_BOUNDS', text, { op: 'resize', path: image });
  }
  if (size < before && preallocation !== 'off')
    throw new UsageError(
      '--preallocation is for what is added, and this makes the disk smaller; leave it out',
    );
  if (size === before) return;
  await node.truncate(size, { shrink, preallocation, signal: terminal.signal });
}
