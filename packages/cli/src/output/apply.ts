import type { OutputFlags } from '../options/common.ts';
import type { Terminal } from '../terminal.ts';

/** How the command was asked to speak. */
export function applyOutput(terminal: Terminal, flags: OutputFlags): void {
  terminal.json = flags.json === true || flags.output === 'json';
  terminal.quiet = flags.quiet === true;
}
