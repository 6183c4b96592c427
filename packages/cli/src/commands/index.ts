import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** A command's own module, loaded when the command is named. */
export interface CommandModule {
  /** Adds arguments, options, help and what to do. `finish` is given the exit code. */
  define(command: Command, terminal: Terminal, finish: (code: number) => void): void;
}

export interface CommandEntry {
  name: string;
  summary: string;
  /** Exit code of a wrong command line, where it is not 2. */
  usageCode?: number;
  /** Arguments of this form are none of the options that they look like. */
  operand?: RegExp;
  load(): Promise<CommandModule>;
}

export const commands: readonly CommandEntry[] = [
  { name: 'info', summary: 'what an image says of itself, and its sizes', load: () => import('./info.ts') },
  { name: 'map', summary: 'where data and zeroes are', load: () => import('./map.ts') },
  { name: 'convert', summary: 'copy the content of an image to another', load: () => import('./convert.ts') },
  { name: 'compare', summary: 'compare the content of two images', load: () => import('./compare.ts') },
  { name: 'create', summary: 'make a new image', load: () => import('./create.ts') },
  {
    name: 'check',
    summary: 'check the metadata of an image, and repair it',
    usageCode: 1,
    load: () => import('./check.ts'),
  },
  {
    name: 'snapshot',
    summary: 'list, take, apply and delete internal snapshots',
    load: () => import('./snapshot.ts'),
  },
  {
    name: 'resize',
    summary: 'change the size of a disk',
    operand: /^-\d/,
    load: () => import('./resize.ts'),
  },
  {
    name: 'commit',
    summary: 'move what an overlay holds into the image behind it',
    load: () => import('./commit.ts'),
  },
  { name: 'rebase', summary: 'put another image behind an overlay', load: () => import('./rebase.ts') },
  {
    name: 'bitmap',
    summary: 'list and change the dirty bitmaps of an image',
    load: () => import('./bitmap.ts'),
  },
  { name: 'amend', summary: 'change options of the format of an image', load: () => import('./amend.ts') },
  { name: 'measure', summary: 'how large a new image would be', load: () => import('./measure.ts') },
  { name: 'checksum', summary: 'SHA-256 of what a guest sees', load: () => import('./checksum.ts') },
  { name: 'drivers', summary: 'the drivers and their options', load: () => import('./drivers.ts') },
  { name: 'probe', summary: 'what this machine can do', load: () => import('./probe.ts') },
  {
    name: 'completion',
    summary: 'a completion script for your shell',
    load: () => import('./completion.ts'),
  },
];
