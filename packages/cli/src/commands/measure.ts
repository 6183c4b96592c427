import { BlockError } from '@blockyard/core';
import { measure } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { UsageError } from '../exit.ts';
import { openSource } from '../open/source.ts';
import { type OutputFlags, outputOptions, type SourceFlags, sourceOptions } from '../options/common.ts';
import { parseSize } from '../options/size.ts';
import { applyOutput } from '../output/apply.ts';
import { formatExact } from '../output/bytes.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
Examples:
  blockyard measure -O raw vm.qcow2
  blockyard measure --size 10G
`;

interface MeasureFlags extends SourceFlags, OutputFlags {
  cache?: string;
  targetFormat: string;
  size?: string;
  snapshot?: string;
}

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Tells how large a new image would be, for the content of an image or for a size.')
    .argument('[image]');
  outputOptions(sourceOptions(command))
    .option('-O, --target-format <format>', 'format of the new image', 'raw')
    .option('--size <size>', 'size of the disk, instead of an image')
    .option('-l, --snapshot <name>', 'the disk of an internal snapshot')
    .addHelpText('after', help);
  command.action(async (image: string | undefined) => {
    const flags = command.opts<MeasureFlags>();
    applyOutput(terminal, flags);
    if (flags.targetFormat !== 'raw') {
      const text = `measure -O ${flags.targetFormat}: this version writes raw images only; leave out -O`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'measure' });
    }
    if ((image === undefined) === (flags.size === undefined))
      throw new UsageError('measure needs an image, or --size: one of them');
    const { required, fullyAllocated, data } = await run(image, flags, terminal);
    if (terminal.json) {
      terminal.printJson({
        required,
        'fully-allocated': fullyAllocated,
        ...(data === undefined ? {} : { data }),
      });
      return;
    }
    const { dim } = terminal.out;
    terminal.print(`${dim('required size:')} ${formatExact(required)}`);
    terminal.print(`${dim('fully allocated size:')} ${formatExact(fullyAllocated)}`);
    if (data !== undefined) terminal.print(`${dim('data, the rest is zero:')} ${formatExact(data)}`);
  });
}

async function run(image: string | undefined, flags: MeasureFlags, terminal: Terminal) {
  if (image === undefined) return await measure(parseSize(flags.size as string, '--size'));
  const settings = { ...flags, ...(flags.cache === undefined ? {} : { sourceCache: flags.cache }) };
  const node = await openSource(image, cliRegistry(), settings, terminal);
  try {
    return await measure(node, { signal: terminal.signal });
  } finally {
    await node.close();
  }
}
