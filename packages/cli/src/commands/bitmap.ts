import type { Command } from 'commander';
import { type BitmapAction, changeBitmap, listBitmaps } from '../bitmap/actions.ts';
import { UsageError } from '../exit.ts';
import { type ImageFlags, imageOptions, type OutputFlags, outputOptions } from '../options/common.ts';
import { parseSize } from '../options/size.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
A bitmap marks which parts of the disk were written since it was cleared, for backups of
what changed. Several actions are done in the order in which they are said.

Examples:
  blockyard bitmap --list vm.qcow2
  blockyard bitmap --add -g 64k vm.qcow2 since-monday
  blockyard bitmap --add --disable vm.qcow2 all
  blockyard bitmap --merge since-monday --merge since-tuesday vm.qcow2 all
  blockyard bitmap --merge since-monday -b overlay.qcow2 -F qcow2 vm.qcow2 all
`;

const plain = {
  add: 'add it, enabled',
  remove: 'remove it',
  clear: 'forget what it marks',
  enable: 'record writes in it from now on',
  disable: 'record no more writes in it',
} as const;

interface BitmapFlags extends ImageFlags, OutputFlags {
  list?: boolean;
  sourceFile?: string;
  sourceFormat?: string;
  granularity?: string;
  forceShare?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Lists or changes the dirty bitmaps that an image keeps.')
    .argument('<image>')
    .argument('[bitmap]', 'its name; not with --list');
  const actions: BitmapAction[] = [];
  command.option('--list', 'list the bitmaps of the image');
  for (const [name, text] of Object.entries(plain)) {
    command.option(`--${name}`, text);
    command.on(`option:${name}`, () => actions.push({ do: name as keyof typeof plain }));
  }
  command
    .option('--merge <source>', 'mark in it what the bitmap <source> marks as well')
    .on('option:merge', (source: string) => actions.push({ do: 'merge', source }));
  command
    .option('-b, --source-file <image>', 'the image that has the sources of --merge')
    .option('-F, --source-format <format>', 'format of that image')
    .option('-g, --granularity <size>', 'bytes for each bit of a new bitmap, a power of two (default 64k)')
    .option('-U, --force-share', 'with --list: of an image that is in use by a writer');
  outputOptions(imageOptions(command)).addHelpText('after', help);
  command.action(async (image: string, name: string | undefined) => {
    const flags = command.opts<BitmapFlags>();
    applyOutput(terminal, flags);
    const { list, sourceFile, sourceFormat, granularity, forceShare, ...rest } = flags;
    const job = { image, flags: rest, registry: cliRegistry(), terminal };
    if (list) {
      if (name !== undefined || actions.length > 0)
        throw new UsageError('--list takes an image, and neither the name of a bitmap nor other actions');
      return await listBitmaps({ ...job, flags: { ...rest, ...(forceShare ? { forceShare } : {}) } });
    }
    checkFlags(flags, name, actions);
    const source = sourceFile === undefined ? undefined : { image: sourceFile, format: sourceFormat };
    await changeBitmap(job, name as string, actions, {
      source,
      granularity: granularity === undefined ? undefined : parseSize(granularity, '-g'),
    });
  });
}

function checkFlags(flags: BitmapFlags, name: string | undefined, actions: readonly BitmapAction[]): void {
  if (actions.length === 0)
    throw new UsageError('say what to do: --add, --remove, --clear, --enable, --disable, --merge, or --list');
  if (name === undefined)
    throw new UsageError('the name of the bitmap is missing: blockyard bitmap ... <image> <bitmap>');
  if (name === '') throw new UsageError('the name of the bitmap is empty');
  const has = (what: string) => actions.some((action) => action.do === what);
  if (flags.granularity !== undefined && !has('add'))
    throw new UsageError('-g is for --add, which is missing');
  if (flags.sourceFile !== undefined && !has('merge'))
    throw new UsageError('-b is for --merge, which is missing');
  if (flags.sourceFormat !== undefined && flags.sourceFile === undefined)
    throw new UsageError('-F is the format of the image of -b, which is missing');
  if (flags.forceShare)
    throw new UsageError('-U: an image that is in use can be read, not changed; leave it out');
}
