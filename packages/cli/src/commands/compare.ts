import { type Comparison, compare } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { exitCodes, Interrupted, UsageError } from '../exit.ts';
import { reportFailure } from '../failure.ts';
import { openSource } from '../open/source.ts';
import {
  type OutputFlags,
  outputOptions,
  type SourceFlags,
  sourceOptions,
  type WorkFlags,
  workOptions,
} from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';
import { withProgress } from '../work.ts';

const help = `
Images of different size are identical when what only one of them has is zero;
--strict also asks for equal sizes and allocation.
Exit code 0: identical; 1: they differ; 2: they could not be compared.

Examples:
  blockyard compare vm.qcow2 vm.raw
  blockyard compare -f qcow2 -F raw --strict vm.qcow2 vm.raw
`;

interface CompareFlags extends SourceFlags, OutputFlags, WorkFlags {
  secondFormat?: string;
  strict?: boolean;
}

export function define(command: Command, terminal: Terminal, finish: (code: number) => void): void {
  command.description('Compares what a guest sees of two images.').argument('<image>').argument('<image2>');
  outputOptions(workOptions(sourceOptions(command)))
    .option('-F, --second-format <format>', 'format of the second image')
    .option('-s, --strict', 'sizes and allocation must be equal too')
    .addHelpText('after', help);
  command.action(async (one: string, two: string) => {
    const flags = command.opts<CompareFlags>();
    applyOutput(terminal, flags);
    try {
      finish(await run(one, two, flags, terminal));
    } catch (error) {
      if (error instanceof UsageError || error instanceof Interrupted) throw error;
      const code = reportFailure(error, terminal, Boolean(terminal.streams.env.BLOCKYARD_DEBUG));
      finish(code === exitCodes.failure ? exitCodes.usage : code);
    }
  });
}

async function run(one: string, two: string, flags: CompareFlags, terminal: Terminal): Promise<number> {
  const registry = cliRegistry();
  const a = await openSource(one, registry, flags, terminal);
  try {
    const { secondFormat: format, ...rest } = flags;
    delete rest.format;
    const b = await openSource(two, registry, format === undefined ? rest : { ...rest, format }, terminal);
    try {
      const strict = flags.strict === true;
      const result = await withProgress(terminal, 'compare', flags, (options) =>
        compare(a, b, { ...options, strict }),
      );
      if (terminal.json) terminal.printJson({ images: [one, two], ...result });
      else tell(result, terminal);
      return result.identical ? exitCodes.ok : exitCodes.failure;
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

function tell({ identical, difference, offset, sizes }: Comparison, terminal: Terminal): void {
  const [one, two] = sizes;
  if (one !== two && difference !== 'size') {
    terminal.notice(
      `the sizes differ: ${one} and ${two} bytes${identical ? '; what only one image has is zero' : ''}`,
    );
  }
  if (terminal.quiet) return;
  if (identical) terminal.print('Images are identical.');
  else if (difference === 'size') terminal.print(`Sizes differ: ${one} and ${two} bytes (strict mode).`);
  else if (difference === 'allocation')
    terminal.print(`Allocation differs at offset ${offset} (strict mode).`);
  else terminal.print(`Content differs at offset ${offset}.`);
}
