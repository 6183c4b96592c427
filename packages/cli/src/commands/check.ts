import { BlockError } from '@blockyard/core';
import { type Command, Option } from 'commander';
import { checkCode, checkCodes, checkJson, checkText } from '../check/report.ts';
import { UsageError } from '../exit.ts';
import { reportFailure } from '../failure.ts';
import { withImageFile } from '../open/file.ts';
import {
  type ImageFlags,
  imageFileOptions,
  type OutputFlags,
  outputOptions,
  progressOption,
} from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';
import { withProgress } from '../work.ts';

const help = `
Opens nothing that the image names: the backing file may be missing. Close the image
everywhere before it is repaired, and keep a copy: what is wrong in two places at once
can be put right the wrong way.

Exit codes, those of qemu-img:
  0    no errors (or all repaired)
  1    the check could not be done, or the command line is wrong
  2    errors are left: data is wrong, or will be
  3    clusters have leaked, and nothing else is wrong
  63   images of this format cannot be checked

Examples:
  blockyard check vm.qcow2
  blockyard check --json vm.qcow2
  blockyard check -r leaks vm.qcow2
  blockyard check -r all vm.qcow2
`;

interface CheckFlags extends ImageFlags, OutputFlags {
  repair?: 'leaks' | 'all';
  progress?: boolean;
  forceShare?: boolean;
}

export function define(command: Command, terminal: Terminal, finish: (code: number) => void): void {
  command.description('Checks the metadata of an image, and repairs it.').argument('<image>');
  command
    .addOption(
      new Option('-r, --repair <what>', 'repair leaked clusters only, or all that can be').choices([
        'leaks',
        'all',
      ]),
    )
    .option('-U, --force-share', 'of an image that is in use by a writer; what is found may not be so');
  outputOptions(progressOption(imageFileOptions(command, '-T, --cache <mode>'))).addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<CheckFlags>();
    applyOutput(terminal, flags);
    if (flags.repair && flags.forceShare)
      throw new UsageError('-U: an image that is in use can be read, not repaired; leave it out');
    try {
      finish(await run(image, flags, terminal));
    } catch (error) {
      if (!(error instanceof BlockError) || error.code !== 'ERR_NOT_SUPPORTED' || error.op !== 'check')
        throw error;
      reportFailure(error, terminal, Boolean(terminal.streams.env.BLOCKYARD_DEBUG));
      finish(checkCodes.unsupported);
    }
  });
}

async function run(image: string, flags: CheckFlags, terminal: Terminal): Promise<number> {
  const { repair } = flags;
  return await withImageFile(
    image,
    cliRegistry(),
    flags,
    terminal,
    repair !== undefined,
    async ({ file, driver }) => {
      const { check, name } = driver;
      if (!check) {
        const text = `check ${image}: images of the format ${name} have no metadata that could be checked`;
        throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'check', path: image, driver: name });
      }
      const result = await withProgress(
        terminal,
        repair ? 'repair' : 'check',
        flags,
        ({ signal, onProgress }) =>
          check.call(driver, file, {
            signal,
            repair,
            onProgress: ({ done, total }) => onProgress?.({ done, total, zero: 0 }),
          }),
      );
      if (terminal.json) terminal.printJson(checkJson(result, image, name));
      else if (!terminal.quiet) terminal.print(checkText(result, image, repair, terminal));
      return checkCode(result);
    },
  );
}
