import { type Command, Option } from 'commander';
import type { ConvertFlags } from '../convert/flags.ts';
import { convertToFile, convertToStream } from '../convert/run.ts';
import { UsageError } from '../exit.ts';
import { withImageFile } from '../open/file.ts';
import { cacheNames } from '../options/cache.ts';
import { collect, outputOptions, sourceOptions, workOptions } from '../options/common.ts';
import { asksForHelp, creationHelp, makerOf } from '../options/creation.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import { rawOptionsHelp } from '../target/options.ts';
import type { Terminal } from '../terminal.ts';

const help = `
The target is a new file: it is written under a temporary name in its directory,
flushed, and gets its name when all is done. After a failure or an interruption
nothing is left that looks finished. Unlike qemu-img, a target that exists is not
overwritten without --overwrite. All cache modes but unsafe flush once, at the end.
Several sources follow one another in the target.

Examples:
  blockyard convert vm.qcow2 vm.raw                     probe the source, write a raw file
  blockyard convert -t none -T none -m 16 -W a.qcow2 b  past the page cache, 16 requests in flight
  blockyard convert -O qcow2 -c vm.raw small.qcow2      compressed
  blockyard convert -O qcow2 -B base.qcow2 -F qcow2 old.qcow2 new.qcow2  what base.qcow2 has is left to it
  blockyard convert -n vm.qcow2 /dev/sdx --verify       write to a device, read it back and compare
  blockyard convert -l before-update vm.qcow2 old.raw   an internal snapshot
  blockyard convert -f qcow2 vm.qcow2 - | zstd > vm.zst to a pipe
  xz -dc board.img.xz | blockyard convert - board.img   from a pipe
`;

/** What other programs take a name with this ending for. */
const foreignEnding = /\.(qcow2?|qed|vmdk|vhdx?|vpc|vdi)$/i;

export function define(command: Command, terminal: Terminal, _finish: (code: number) => void): void {
  command
    .description('Copies the content of an image to another.')
    .usage('[options] <source...> <target>')
    .argument('[images...]', 'the sources, and the target at the end');
  sourceOptions(command, '-T, --source-cache <mode>')
    .option('-O, --target-format <format>', 'format of the target', 'raw')
    .option(
      '-o, --options <key=value,...>',
      'options of the target: cluster_size=, preallocation=, ...; help lists them',
      collect,
    )
    .option('--source-options <key=value,...>', "more options for the source's driver", collect)
    .addOption(
      new Option('-t, --cache <mode>', 'host cache for writing').choices(cacheNames).default('writeback'),
    )
    .option('-c, --compress', 'store compressed, where the format can (qcow2)')
    .option('-n, --no-create', 'write into the target as it is: a device, or a file that exists')
    .option('--overwrite', 'replace a target that exists, when the copy is whole')
    .option('-l, --snapshot <name>', 'copy an internal snapshot, by id or name')
    .option('-B, --backing <file>', 'backing file of the target (qcow2): what it shows is not copied')
    .option('-F, --backing-format <format>', 'format of the backing file')
    .option('-S, --sparse <size>', 'zeroes of at least this length become holes; 0 writes everything', '4k')
    .option('-W, --out-of-order', 'write in any order; faster on devices')
    .option(
      '-C, --offload',
      'let the file system copy or share data where it can; zeroes in it are not looked for',
    )
    .option('--target-is-zero', 'with -n: the target reads as zeroes already')
    .option('--bitmaps', 'copy the dirty bitmaps as well')
    .option('--skip-broken-bitmaps', 'with --bitmaps: leave out those that are inconsistent')
    .option('--salvage', 'go on where the source cannot be read: zeroes take its place')
    .option('--target-image-opts', 'the target is given as options: driver=file,filename=vm.raw')
    .option('--verify', 'read the target back, past the page cache, and compare');
  outputOptions(workOptions(command));
  command.addHelpText('after', help);
  command.action(async (images: string[]) => {
    const flags = command.opts<ConvertFlags & { create: boolean }>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    if (asksForHelp(flags.options)) {
      const driver = makerOf(registry, flags.targetFormat);
      return terminal.print(driver.name === 'raw' ? rawOptionsHelp : creationHelp(driver));
    }
    const sources = images.slice(0, -1);
    const target = images.at(-1);
    if (target === undefined || sources.length === 0)
      throw new UsageError('convert needs a source and a target; see blockyard convert --help');
    checkFlags(flags, sources, target);
    if (command.getOptionValueSource('targetFormat') === 'default')
      await noteDefaultFormat(flags, target, terminal);
    const work = target === '-' && !flags.targetImageOpts ? convertToStream : convertToFile;
    await work({ sources, target, flags: { ...flags, noCreate: !flags.create }, registry, terminal });
  });
}

/** The raw format was not asked for. */
async function noteDefaultFormat(
  { targetImageOpts, create }: ConvertFlags & { create: boolean },
  target: string,
  terminal: Terminal,
): Promise<void> {
  if (targetImageOpts || target === '-' || target.startsWith('{')) return;
  if (!create) await checkNotImage(target, terminal);
  const ending = foreignEnding.exec(target)?.[0];
  if (!ending) return;
  const say = /^\.qcow2?$/i.test(ending) ? '-O qcow2 makes it one; ' : '';
  terminal.notice(
    `${target} will be a raw image, though its name ends in ${ending} (${say}-O raw says so without this note)`,
  );
}

/** Raw bytes over the header of an image are seldom meant. */
async function checkNotImage(target: string, terminal: Terminal): Promise<void> {
  const registry = cliRegistry();
  let format: string;
  try {
    format = await withImageFile(target, registry, {}, terminal, false, async ({ driver }) => driver.name);
  } catch {
    // Whatever it is, opening it for writing says it better.
    return;
  }
  if (format !== 'raw')
    throw new UsageError(
      `-n: ${target} is a ${format} image: say -O ${format} to write into its disk, or -O raw to write raw bytes over it`,
    );
}

function checkFlags(
  flags: ConvertFlags & { create: boolean },
  sources: readonly string[],
  target: string,
): void {
  const { create, backing } = flags;
  if (flags.targetIsZero && create)
    throw new UsageError('--target-is-zero is for a target that exists; it needs -n');
  if (flags.targetIsZero && backing !== undefined)
    throw new UsageError(
      '--target-is-zero: a target that shows its backing file (-B) is not zero; choose one',
    );
  if (flags.targetImageOpts && create)
    throw new UsageError(
      '--target-image-opts needs -n: a target that is given as options must exist; give its name to make a file',
    );
  if (flags.overwrite && !create)
    throw new UsageError('-n writes into the target and --overwrite replaces it: choose one');
  if (target === '-' && flags.verify)
    throw new UsageError('--verify: what went down a pipe cannot be read back');
  if (target === '-' && flags.json)
    throw new UsageError('--json: standard output is the target; choose another');
  if (flags.verify && flags.salvage)
    throw new UsageError('--verify: what --salvage leaves out cannot be compared; choose one');
  if (flags.backingFormat !== undefined && backing === undefined)
    throw new UsageError('-F is the format of the backing file (-B), which is missing');
  if (flags.skipBrokenBitmaps && !flags.bitmaps)
    throw new UsageError('--skip-broken-bitmaps is for --bitmaps, which is missing');
  if (sources.length > 1) checkSeveral(flags, sources);
}

/** What is only to be said of one source. */
function checkSeveral(flags: ConvertFlags, sources: readonly string[]): void {
  const alone = { '-B': flags.backing, '-l': flags.snapshot, '--bitmaps': flags.bitmaps };
  for (const [flag, given] of Object.entries(alone))
    if (given !== undefined)
      throw new UsageError(
        `${flag} is for one source, and here are ${sources.length}; leave it out, or copy them one by one`,
      );
  if (sources.includes('-') && !flags.imageOpts)
    throw new UsageError('standard input can only be the one source; save it to a file first');
}
