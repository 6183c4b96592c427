import type { Command } from 'commander';
import { amend } from '../amend/run.ts';
import { UsageError } from '../exit.ts';
import {
  collect,
  type ImageFlags,
  imageOptions,
  type OutputFlags,
  outputOptions,
  progressOption,
} from '../options/common.ts';
import { amendable, asksForHelp, optionsHelp } from '../options/creation.ts';
import { applyOutput } from '../output/apply.ts';
import { printable } from '../output/printable.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
The content of the disk stays what it is. Of a qcow2 image can be changed: compat,
lazy_refcounts, refcount_bits, backing_file and backing_fmt (recorded as they are said, as
by rebase -u), data_file_raw.

Examples:
  blockyard amend -o compat=1.1 old.qcow2
  blockyard amend -o refcount_bits=64,lazy_refcounts=on vm.qcow2
`;

interface AmendFlags extends ImageFlags, OutputFlags {
  options?: string[];
  progress?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Changes options of the format of an image.')
    .argument('[image]')
    .usage('[options] <image>');
  command.option('-o, --options <key=value,...>', 'what to change; help lists what there is', collect);
  outputOptions(progressOption(imageOptions(command))).addHelpText('after', help);
  command.action(async (image: string | undefined) => {
    const flags = command.opts<AmendFlags>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    const { options = [] } = flags;
    if (asksForHelp(options)) {
      const driver = registry.driver(flags.format ?? 'qcow2');
      return terminal.print(
        optionsHelp(`Options of ${driver.name} images that can be changed (-o):`, amendable(driver)),
      );
    }
    if (image === undefined) throw new UsageError('the image is missing; see blockyard amend --help');
    if (options.length === 0) throw new UsageError('say what to change with -o; -o help lists what there is');
    const changed = await amend({ image, options, flags, registry, terminal });
    if (terminal.json) terminal.printJson({ image, changed });
    else if (!terminal.quiet) terminal.print(`${printable(image)}: amended`);
  });
}
