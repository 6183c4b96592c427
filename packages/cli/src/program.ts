import { Command, CommanderError, type Option } from 'commander';
import { type CommandEntry, commands } from './commands/index.ts';
import { exitCodes, UsageError } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { unknownCommand, usageError } from './usage.ts';
import { version } from './version.ts';

const footer = `
Images:
  A name is a path, or a URL of a driver. '-' is standard input or output, where a stream will do.
  '{...}' and 'json:{...}' are a graph of drivers as JSON, the options tree of the API:
    blockyard info '{"driver":"qcow2","file":{"driver":"file","filename":"vm.qcow2"}}'
  After '--' everything is a name, even with a dash in front.

Exit codes:
  0    done; compare: the images are identical
  1    failed; compare: the images differ
  2    the command line is wrong; compare: failed
       check has codes of its own: blockyard check --help
  130  interrupted (SIGINT, SIGTERM, SIGHUP)

Examples:
  blockyard create -f qcow2 vm.qcow2 20G
  blockyard info vm.qcow2
  blockyard convert vm.qcow2 vm.raw
  blockyard convert -O qcow2 -c vm.raw small.qcow2
  blockyard convert -f qcow2 -O raw -t none -T none -p vm.qcow2 vm.raw --verify
  blockyard compare vm.qcow2 vm.raw
`;

/** Runs a command line, without `node` and the script in front. @returns the exit code. */
export async function runProgram(given: readonly string[], terminal: Terminal): Promise<number> {
  let argv = jsonLast(given);
  let exitCode: number = exitCodes.ok;
  const finish = (code: number) => {
    exitCode = code;
  };
  const first = argv[0];
  const helpFor = first === 'help' ? argv[1] : undefined;
  const name = helpFor ?? first;
  const entry = commands.find((command) => command.name === name);
  const program = createProgram(terminal);
  if (entry?.operand) argv = operandsLast(argv, entry.operand);
  if (entry) await addFull(program, entry, terminal, finish);
  else if (name !== undefined && !name.startsWith('-') && name !== 'help') throw unknownCommand(name);
  else for (const { name, summary } of commands) program.command(name).summary(summary).description(summary);
  try {
    if (first === undefined) {
      terminal.error(program.helpInformation());
      terminal.error('blockyard: no command is given');
      return exitCodes.usage;
    }
    await program.parseAsync(argv.length === 1 && first === 'help' ? ['--help'] : [...argv], {
      from: 'user',
    });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    const failure = error instanceof CommanderError ? usageError(error, entry?.name) : error;
    if (failure instanceof UsageError && entry?.usageCode !== undefined) failure.exitCode = entry.usageCode;
    throw failure;
  }
  return exitCode;
}

/** A size to take away has a dash in front, as an option has. */
function operandsLast(argv: readonly string[], operand: RegExp): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const moved = argv.slice(0, end).filter((word) => operand.test(word));
  const before = argv.slice(0, end).filter((word) => !operand.test(word));
  return moved.length === 0 ? argv : [...before, '--', ...argv.slice(end + 1), ...moved];
}

/** `--json` is every command's own; in front of the command it means the same. */
function jsonLast(argv: readonly string[]): readonly string[] {
  const [json, name, ...rest] = argv;
  return json === '--json' && name !== undefined && !name.startsWith('-') ? [name, json, ...rest] : argv;
}

/** All commands with all options, for completion. */
export async function fullProgram(terminal: Terminal): Promise<Command> {
  const program = createProgram(terminal);
  for (const entry of commands) await addFull(program, entry, terminal, () => {});
  return program;
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('blockyard')
    .description('Disk image tools.')
    .version(`blockyard ${version}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', footer);
  return quietly(program, terminal);
}

/** Errors are printed in one place, and nothing but the entry point ends the process. */
function quietly(command: Command, terminal: Terminal): Command {
  return command
    .exitOverride()
    .configureHelp({ optionDescription })
    .configureOutput({
      writeOut: (text) => void terminal.streams.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => Math.min(terminal.streams.stdout.columns ?? 100, 110),
      getOutHasColors: () => false,
    });
}

function optionDescription({ description, argChoices, defaultValue }: Option): string {
  const notes = [
    ...(argChoices ? [argChoices.join('|')] : []),
    ...(defaultValue === undefined ? [] : [`default ${String(defaultValue)}`]),
  ];
  return notes.length > 0 ? `${description} (${notes.join('; ')})` : description;
}

async function addFull(
  program: Command,
  entry: CommandEntry,
  terminal: Terminal,
  finish: (code: number) => void,
): Promise<void> {
  const { define } = await entry.load();
  const command = quietly(program.command(entry.name), terminal)
    .summary(entry.summary)
    .helpOption('-h, --help', 'print this help');
  define(command, terminal, finish);
}
