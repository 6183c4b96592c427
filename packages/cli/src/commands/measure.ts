import type { BlockDriver, Registry } from '@blockyard/core';
import { type Measurement, measure } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { UsageError } from '../exit.ts';
import { openSource } from '../open/source.ts';
import {
  collect,
  type OutputFlags,
  outputOptions,
  progressOption,
  type SourceFlags,
  sourceOptions,
} from '../options/common.ts';
import {
  asksForHelp,
  type CreationOptions,
  creationFrom,
  creationHelp,
  makerOf,
} from '../options/creation.ts';
import { splitPairs } from '../options/key-value.ts';
import { parseSize } from '../options/size.ts';
import { applyOutput } from '../output/apply.ts';
import { formatExact } from '../output/bytes.ts';
import { cliRegistry } from '../registry.ts';
import { parseTargetOptions, rawOptionsHelp } from '../target/options.ts';
import type { Terminal } from '../terminal.ts';
import { withProgress } from '../work.ts';

const help = `
The required size holds the content, the fully allocated one any content. Bitmaps come on
top, where they are copied (convert --bitmaps).

Examples:
  blockyard measure -O raw vm.qcow2
  blockyard measure -O qcow2 vm.raw
  blockyard measure -O qcow2 -o cluster_size=2M,refcount_bits=1 --size 10T
`;

interface MeasureFlags extends SourceFlags, OutputFlags {
  targetFormat: string;
  options?: string[];
  size?: string;
  snapshot?: string;
  progress?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Tells how large a new image would be, for the content of an image or for a size.')
    .argument('[image]');
  sourceOptions(command)
    .option('-O, --target-format <format>', 'format of the new image', 'raw')
    .option(
      '-o, --options <key=value,...>',
      'options of the new image, as for create; help lists them',
      collect,
    )
    .option('--size <size>', 'size of the disk, instead of an image')
    .option('-l, --snapshot <name>', 'the disk of an internal snapshot');
  outputOptions(progressOption(command)).addHelpText('after', help);
  command.action(async (image: string | undefined) => {
    const flags = command.opts<MeasureFlags>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    const format = makerOf(registry, flags.targetFormat);
    const { options = [] } = flags;
    const raw = format.name === 'raw';
    if (asksForHelp(options)) return terminal.print(raw ? rawOptionsHelp : creationHelp(format));
    const creation = raw
      ? checkRaw(options, registry)
      : creationFrom(options.flatMap(splitPairs), format, registry);
    if ((image === undefined) === (flags.size === undefined && creation.size === undefined))
      throw new UsageError('measure needs an image, or --size: one of them');
    const found = await run(image, { format, creation }, flags, registry, terminal);
    if (terminal.json) terminal.printJson(toJson(found));
    else tell(found, terminal);
  });
}

/** A raw image is as large as its disk, whatever it is made with. */
function checkRaw(options: readonly string[], registry: Registry): CreationOptions {
  parseTargetOptions({ format: 'raw', noCreate: false, options }, registry);
  return {};
}

/** The keys of qemu-img, and \`data\`. */
const toJson = ({ required, fullyAllocated, data, bitmaps }: Measurement) => ({
  ...(bitmaps === undefined ? {} : { bitmaps }),
  required,
  'fully-allocated': fullyAllocated,
  ...(data === undefined ? {} : { data }),
});

function tell({ required, fullyAllocated, data, bitmaps }: Measurement, terminal: Terminal): void {
  const { dim } = terminal.out;
  terminal.print(`${dim('required size:')} ${formatExact(required)}`);
  terminal.print(`${dim('fully allocated size:')} ${formatExact(fullyAllocated)}`);
  if (bitmaps !== undefined) terminal.print(`${dim('bitmaps size:')} ${formatExact(bitmaps)}`);
  if (data !== undefined) terminal.print(`${dim('data, the rest is zero:')} ${formatExact(data)}`);
}

async function run(
  image: string | undefined,
  made: { format: BlockDriver; creation: CreationOptions },
  flags: MeasureFlags,
  registry: Registry,
  terminal: Terminal,
): Promise<Measurement> {
  const { size, ...creation } = made.creation as { size?: number };
  const as = { format: made.format, creation };
  if (image === undefined)
    return await measure(flags.size === undefined ? (size as number) : parseSize(flags.size, '--size'), as);
  const node = await openSource(image, registry, flags, terminal);
  try {
    return await withProgress(terminal, 'measure', flags, ({ signal, onProgress }) =>
      measure(node, { ...as, signal, onProgress }),
    );
  } finally {
    await node.close();
  }
}
