import { type CommitResult, commit } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { type OpenChain, withChain } from '../commit/chain.ts';
import {
  type ImageFlags,
  imageOptions,
  type OutputFlags,
  outputOptions,
  type WorkFlags,
  workOptions,
} from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { formatBytes } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { shownPath } from '../output/shown.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';
import { leaving, withProgress } from '../work.ts';

const help = `
What was written to the image goes into its backing file, which grows where it is smaller;
then the image is emptied, but for -d. With -b it goes into an image further behind, and
nothing is emptied: the images between show something else afterwards, as do all other
images that the changed one is behind. After a failure the same command can be said again.

Examples:
  blockyard commit overlay.qcow2
  blockyard commit -d overlay.qcow2
  blockyard commit -b base.qcow2 overlay.qcow2
`;

interface CommitFlags extends ImageFlags, OutputFlags, WorkFlags {
  base?: string;
  keep?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command.description('Writes what an image holds into the image behind it.').argument('<image>');
  command
    .option('-b, --base <image>', 'the image to write into: any that is behind (default: the first)')
    .option('-d, --keep', 'leave the image as it is; quicker when it is to be deleted');
  outputOptions(workOptions(imageOptions(command))).addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<CommitFlags>();
    applyOutput(terminal, flags);
    const { base, keep = false } = flags;
    const settings = { image, base, writeTop: !keep, flags, registry: cliRegistry(), terminal };
    await withChain(settings, async (chain) => {
      const into = shownPath(chain.base.path, image);
      const left = `${into} holds a part of what was committed, and ${image} shows what it did; say the same again`;
      const result = await withProgress(terminal, 'commit', flags, (options) =>
        leaving(left, options, (watched) => commit(chain.top, chain.base, { ...watched, keep })),
      );
      tell(image, chain, result, terminal);
    });
  });
}

function tell(image: string, { base, between }: OpenChain, result: CommitResult, terminal: Terminal): void {
  const into = shownPath(base.path, image);
  if (terminal.json) return terminal.printJson({ image, base: base.path, ...result });
  if (between.length > 0) {
    const names = between.map((path) => shownPath(path, image)).join(', ');
    terminal.notice(`what ${names} ${between.length === 1 ? 'shows' : 'show'} has changed with ${into}`);
  }
  if (terminal.quiet) return;
  const { bytesWritten, bytesZeroWritten, grownFrom, emptied } = result;
  const parts = [
    `${formatBytes(bytesWritten)} written to ${printable(into)}`,
    ...(bytesZeroWritten > 0 ? [`${formatBytes(bytesZeroWritten)} zeroed`] : []),
    ...(grownFrom === undefined
      ? []
      : [`which grew from ${formatBytes(grownFrom)} to ${formatBytes(base.size)}`]),
    emptied ? 'emptied' : 'left as it is',
  ];
  terminal.print(`${printable(image)}: ${parts.join(', ')}`);
}
