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
  load(): Promise<CommandModule>;
}

export const commands: readonly CommandEntry[] = [
  { name: 'info', summary: 'what an image says of itself, and its sizes', load: () => import('./info.ts') },
  { name: 'map', summary: 'where data and zeroes are', load: () => import('./map.ts') },
  { name: 'convert', summary: 'copy the content of an image to another', load: () => import('./convert.ts') },
  { name: 'compare', summary: 'compare the content of two images', load: () => import('./compare.ts') },
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
