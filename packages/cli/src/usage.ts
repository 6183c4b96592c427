import type { CommanderError } from 'commander';
import { commands } from './commands/index.ts';
import { UsageError } from './exit.ts';
import { nearest } from './nearest.ts';

/** What qemu-img has and this version has not. */
const notHere = ['bench', 'dd'];

/** Options of qemu-img's commands that are not here, with what to do instead. */
const missingOptions: Readonly<Record<string, string>> = {
  '-r': 'limiting the rate is not in this version; leave it out',
  '--rate-limit': 'limiting the rate is not in this version; leave it out',
  '--object': 'secrets and other objects are not in this version; leave it out',
};

export function unknownCommand(name: string): UsageError {
  if (notHere.includes(name)) {
    return new UsageError(`qemu-img's ${name} is not in this version; see blockyard --help for what is`);
  }
  const names = commands.map((command) => command.name);
  const close = nearest(name, names) ?? names.find((known) => known.startsWith(name.slice(0, 3)));
  const hint = close ? `did you mean ${close}?` : 'see blockyard --help';
  return new UsageError(`there is no command '${name}'; ${hint}`);
}

/** What the parser of arguments found, as everything else is said here. */
export function usageError({ code, message }: CommanderError, command: string | undefined): UsageError {
  const see = `see blockyard ${command ? `${command} ` : ''}--help`;
  const text = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  const option = /^unknown option '([^'=]*)/.exec(text)?.[1];
  const missing = option === undefined || command === undefined ? undefined : missingOptions[option];
  if (missing) return new UsageError(`${command} ${option}: ${missing}`);
  return new UsageError(`${reworded(code, text, command)}; ${see}`);
}

function reworded(code: string, text: string, command: string | undefined): string {
  if (code === 'commander.excessArguments') {
    const [, takes, got] = /Expected (\d+) arguments? but got (\d+)/.exec(text) ?? [];
    return `too many arguments: ${command} takes ${takes}, here are ${got}`;
  }
  const choices = / Allowed choices are (.*?)\.?$/.exec(text)?.[1];
  const option = /^option '([^']*)' argument '(.*)' is invalid/s.exec(text);
  if (option && choices) return `${option[1]}: expected one of ${choices}, got '${option[2]}'`;
  const argument = /^command-argument value '(.*)' is invalid for argument '([^']*)'/s.exec(text);
  if (argument && choices) return `${argument[2]}: expected one of ${choices}, got '${argument[1]}'`;
  if (code === 'commander.optionMissingArgument')
    return text.replace(/^option '([^']*)' argument missing$/, '$1: the value is missing');
  return text.replace(/\.$/, '');
}
