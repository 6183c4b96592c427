import type { Command } from 'commander';
import { type CreateFlags, create } from '../create/run.ts';
import { UsageError } from '../exit.ts';
import { collect, type OutputFlags, outputOptions, referenceOptions } from '../options/common.ts';
import { asksForHelp, creationHelp, makerOf } from '../options/creation.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import { rawOptionsHelp } from '../target/options.ts';
import type { Terminal } from '../terminal.ts';

const help = `
The format is raw unless -f says another, as in qemu-img. Unlike qemu-img, a file that
exists is not overwritten without --overwrite. The name of a backing file starts where the
image is; its format must be said. Without a size it is that of the backing file.

Examples:
  blockyard create -f qcow2 vm.qcow2 20G
  blockyard create -f qcow2 -b base.qcow2 -F qcow2 overlay.qcow2
  blockyard create -f qcow2 -o cluster_size=2M,preallocation=metadata big.qcow2 2T
  blockyard create -f qcow2 -o data_file=big.raw,data_file_raw=on big.qcow2 100G
  blockyard create -f qcow2 -o help
`;

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Makes a new image without content.')
    .usage('[options] <name> [size]')
    .argument('[name]')
    .argument('[size]', 'bytes of the disk: 20G, 512M, 1.5T; not needed with -b');
  command
    .option('-f, --format <format>', 'format of the image', 'raw')
    .option('-o, --options <key=value,...>', 'options of the format; help lists them', collect)
    .option('-b, --backing <file>', 'backing file: what the image shows where nothing was written yet')
    .option('-F, --backing-format <format>', 'format of the backing file')
    .option('-u, --unsafe', 'do not open the backing file: it may be missing')
    .option('--overwrite', 'replace a file that exists');
  outputOptions(referenceOptions(command)).addHelpText('after', help);
  command.action(async (name: string | undefined, size: string | undefined) => {
    const flags = command.opts<CreateFlags & OutputFlags>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    if (asksForHelp(flags.options)) {
      const driver = makerOf(registry, flags.format);
      return terminal.print(flags.format === 'raw' ? rawOptionsHelp : creationHelp(driver));
    }
    if (name === undefined)
      throw new UsageError('the name of the image is missing; see blockyard create --help');
    await create({ name, size, flags, registry, terminal });
  });
}
