import type { Command } from 'commander';

export interface CompletedOption {
  flags: string[];
  help: string;
  takesValue: boolean;
  values: readonly string[];
}

/** What a shell needs to know of a command. */
export interface CompletedCommand {
  name: string;
  help: string;
  options: CompletedOption[];
  /** Values of the first argument; a file name where there are none. */
  values: readonly string[];
  takesArguments: boolean;
}

export function modelOf(program: Command): CompletedCommand[] {
  return program.commands.map((command) => ({
    name: command.name(),
    help: command.summary(),
    options: [
      ...command.options.map((option) => ({
        flags: [option.short, option.long].filter((flag) => flag !== undefined),
        help: option.description,
        takesValue: option.required || option.optional,
        values: option.argChoices ?? valuesOf(option.long),
      })),
      { flags: ['-h', '--help'], help: 'print this help', takesValue: false, values: [] },
    ],
    values: command.registeredArguments[0]?.argChoices ?? [],
    takesArguments: command.registeredArguments.length > 0,
  }));
}

const valuesOf = (flag: string | undefined): readonly string[] =>
  flag?.endsWith('format') && flag !== '--output' ? ['qcow2', 'raw'] : [];
