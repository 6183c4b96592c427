import type { Command } from 'commander';
import { inspectImage } from '../info/inspect.ts';
import { infoJson } from '../info/json.ts';
import { infoText } from '../info/text.ts';
import { type OutputFlags, outputOptions, type SourceFlags, sourceOptions } from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
Opens nothing that the image names: it works when the backing file is missing. With
--backing-chain the images behind it are opened too, as --references allows.

Examples:
  blockyard info vm.qcow2
  blockyard info --json vm.qcow2
  blockyard info --backing-chain overlay.qcow2
`;

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Prints what an image says of itself, its virtual size and the size of its file.')
    .argument('<image>');
  outputOptions(sourceOptions(command));
  command.option('--backing-chain', 'the images behind it as well').addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<SourceFlags & OutputFlags & { backingChain?: boolean }>();
    applyOutput(terminal, flags);
    const reports = await inspectImage(image, cliRegistry(), flags, flags.backingChain === true, terminal);
    if (terminal.json) {
      const all = reports.map(infoJson);
      terminal.printJson(flags.backingChain ? all : all[0]);
    } else terminal.print(reports.map((report) => infoText(report, terminal.out)).join('\n\n'));
  });
}
