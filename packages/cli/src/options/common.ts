import { type Command, Option } from 'commander';
import { cacheNames } from './cache.ts';
import { parseCount } from './size.ts';

export const aioNames = ['auto', 'io_uring', 'native', 'threads'];
export const referenceNames = ['deny', 'same-directory', 'allow'];

/** Options of reading an image, as commander gives them. */
export interface SourceFlags {
  format?: string | undefined;
  imageOpts?: boolean | undefined;
  cache?: string | undefined;
  aio?: string | undefined;
  forceShare?: boolean | undefined;
  references?: string | undefined;
  probe?: boolean | undefined;
}

/** Options of changing an image in place. */
export interface ImageFlags {
  format?: string | undefined;
  imageOpts?: boolean | undefined;
  cache?: string | undefined;
  aio?: string | undefined;
  references?: string | undefined;
  probe?: boolean | undefined;
}

export interface OutputFlags {
  json?: boolean;
  output?: string;
  quiet?: boolean;
}

export interface WorkFlags {
  progress?: boolean;
  requests?: string;
}

/** How an image is opened to be read. */
export function sourceOptions(command: Command, cacheFlag = '-T, --cache <mode>'): Command {
  formatOptions(command)
    .addOption(
      new Option(cacheFlag, 'host cache for reading; none reads past it (direct)')
        .choices(cacheNames)
        .default('writeback'),
    )
    .addOption(aioOption())
    .option(
      '-U, --force-share',
      'read an image that is in use by a writer; what is read may be inconsistent',
    );
  return referenceOptions(command);
}

/** How an image is opened to be changed where it is. */
export function imageOptions(command: Command): Command {
  return referenceOptions(imageFileOptions(command, '-t, --cache <mode>'));
}

/** The same of a command that opens nothing that the image names. */
export function imageFileOptions(command: Command, cacheFlag: string): Command {
  return formatOptions(command)
    .addOption(
      new Option(cacheFlag, 'host cache; none goes past it (direct)')
        .choices(cacheNames)
        .default('writeback'),
    )
    .addOption(aioOption());
}

const formatOptions = (command: Command): Command =>
  command
    .option('-f, --format <format>', 'format of the image; without it the first bytes tell')
    .option('--image-opts', 'the image is given as options: driver=qcow2,file.filename=vm.qcow2');

const aioOption = (): Option =>
  new Option('--aio <engine>', 'how requests reach the kernel').choices(aioNames).default('auto');

export const referenceOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--references <policy>',
        'backing and data files that are opened because an image names them',
      )
        .choices(referenceNames)
        .default('same-directory'),
    )
    .option('--probe', 'guess the format of backing files too, where the image does not record it');

export function outputOptions(command: Command): Command {
  return command
    .option('--json', 'print JSON, errors too')
    .addOption(new Option('--output <format>', 'as qemu-img has it').choices(['human', 'json']))
    .option('-q, --quiet', 'print nothing but results and errors');
}

const mostRequests = 128;

export const requestsOf = (text = '8'): number => parseCount(text, '-m', 1, mostRequests);

function checkRequests(text: string): string {
  requestsOf(text);
  return text;
}

export function workOptions(command: Command): Command {
  // Before anything is made.
  return progressOption(command).option(
    '-m, --requests <count>',
    `requests in flight, 1 to ${mostRequests}`,
    checkRequests,
    '8',
  );
}

export const progressOption = (command: Command): Command =>
  command.option('-p, --progress', 'show progress; on by itself on a terminal');

/** Of an option that may be given more than once. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];
