import { type Command, CommanderError, Option } from 'commander';
import type { ConvertFlags } from '../convert/flags.ts';
import { convertToFile, convertToStream } from '../convert/run.ts';
import { UsageError } from '../exit.ts';
import { cacheNames } from '../options/cache.ts';
import { outputOptions, sourceOptions, workOptions } from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
The target is a new file: it is written under a temporary name in its directory,
flushed, and gets its name when all is done. After a failure or an interruption
nothing is left that looks finished. Unlike qemu-img, a target that exists is not
overwritten without --overwrite. All cache modes but unsafe flush once, at the end.

Examples:
  blockyard convert vm.qcow2 vm.raw                     probe the source, write a raw file
  blockyard convert -t none -T none -m 16 -W a.qcow2 b  past the page cache, 16 requests in flight
  blockyard convert -n vm.qcow2 /dev/sdx --verify       write to a device, read it back and compare
  blockyard convert -l before-update vm.qcow2 old.raw   an internal snapshot
  blockyard convert -f qcow2 vm.qcow2 - | zstd > vm.zst to a pipe
  xz -dc board.img.xz | blockyard convert - board.img   from a pipe
`;

const optionsHelp = `Options of a raw target (-o):
  preallocation=off|falloc|full  space for the whole disk when it is made (default off)
  offset=SIZE, size=SIZE         with -n: a window on the target
  file.OPTION=VALUE              of its file; see blockyard drivers file`;

/** What other programs take a name with this ending for. */
const foreignEnding = /\.(qcow2?|qed|vmdk|vhdx?|vpc|vdi)$/i;

const collect = (value: string, before: string[] = []): string[] => [...before, value];

export function define(command: Command, terminal: Terminal, _finish: (code: number) => void): void {
  command.description('Copies the content of an image to another.').argument('<source>').argument('<target>');
  sourceOptions(command, '-T, --source-cache <mode>')
    .option('-O, --target-format <format>', 'format of the target', 'raw')
    .option(
      '-o, --options <key=value,...>',
      'options of the target: preallocation=off|falloc|full; with -n offset=, size= and file.<option>=; help lists them',
      (value: string, before?: string[]) => {
        if (value !== 'help' && value !== '?') return collect(value, before);
        // Without names, too.
        terminal.print(optionsHelp);
        throw new CommanderError(0, 'blockyard.optionsHelp', '');
      },
    )
    .option('--source-options <key=value,...>', "more options for the source's driver", collect)
    .addOption(
      new Option('-t, --cache <mode>', 'host cache for writing').choices(cacheNames).default('writeback'),
    )
    .option('-c, --compress', 'store compressed; no raw target can')
    .option('-n, --no-create', 'write into the target as it is: a device, or a file that exists')
    .option('--overwrite', 'replace a target that exists, when the copy is whole')
    .option('-l, --snapshot <name>', 'copy an internal snapshot, by id or name')
    .option('-B, --backing <file>', 'backing file of the target; no raw target has one')
    .option('-F, --backing-format <format>', 'format of the backing file')
    .option('-S, --sparse <size>', 'zeroes of at least this length become holes; 0 writes everything', '4k')
    .option('-W, --out-of-order', 'write in any order; faster on devices')
    .option(
      '-C, --offload',
      'let the file system copy or share data where it can; zeroes in it are not looked for',
    )
    .option('--target-is-zero', 'with -n: the target reads as zeroes already')
    .option('--target-image-opts', 'the target is given as options: driver=file,filename=vm.raw')
    .option('--verify', 'read the target back, past the page cache, and compare');
  outputOptions(workOptions(command));
  command.addHelpText('after', help);
  command.action(async (source: string, target: string) => {
    const flags = command.opts<ConvertFlags & { create: boolean }>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    checkFlags(flags, target);
    const ending = flags.targetImageOpts ? undefined : foreignEnding.exec(target)?.[0];
    if (ending && command.getOptionValueSource('targetFormat') === 'default') {
      terminal.notice(
        `${target} will be a raw image, though its name ends in ${ending}: this version writes raw images only (-O raw says so without this note)`,
      );
    }
    const work = target === '-' && !flags.targetImageOpts ? convertToStream : convertToFile;
    await work({ source, target, flags: { ...flags, noCreate: !flags.create }, registry, terminal });
  });
}

function checkFlags(flags: ConvertFlags & { create: boolean }, target: string): void {
  if (flags.targetIsZero && flags.create)
    throw new UsageError('--target-is-zero is for a target that exists; it needs -n');
  if (flags.targetImageOpts && flags.create)
    throw new UsageError(
      '--target-image-opts needs -n: a target that is given as options must exist; give its name to make a file',
    );
  if (flags.overwrite && !flags.create)
    throw new UsageError('-n writes into the target and --overwrite replaces it: choose one');
  if (target === '-' && flags.verify)
    throw new UsageError('--verify: what went down a pipe cannot be read back');
  if (target === '-' && flags.json)
    throw new UsageError('--json: standard output is the target; choose another');
}
