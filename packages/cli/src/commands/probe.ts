import { type Probe, probe } from '@blockyard/native';
import type { Command } from 'commander';
import { type OutputFlags, outputOptions } from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';

const help = `
Each engine is set up and taken down to find out; nothing is guessed from versions.

Examples:
  blockyard probe
  blockyard probe --json
`;

export function define(command: Command, terminal: Terminal): void {
  command.description('Tells what this machine can do, and why not.');
  outputOptions(command).addHelpText('after', help);
  command.action(() => {
    applyOutput(terminal, command.opts<OutputFlags>());
    const found = probe();
    if (terminal.json) terminal.printJson({ node: process.version, ...found });
    else for (const line of table(rows(found, terminal))) terminal.print(line);
  });
}

function rows(found: Probe, { out }: Terminal): string[][] {
  const can = ({ available, reason }: { available: boolean; reason?: string }) =>
    available ? out.green('yes') : `${out.yellow('no')}, ${reason ?? 'no reason is known'}`;
  return [
    [
      'platform',
      `${found.platform}, kernel ${found.kernel}, node ${process.version}, pages of ${found.pageSize} bytes`,
    ],
    [
      'native addon',
      can({ available: found.loaded, ...(found.reason === undefined ? {} : { reason: found.reason }) }),
    ],
    ...Object.entries(found.engines).map(([name, engine]) => [`engine ${name}`, can(engine)]),
    ['zero scan', found.simd],
    ['huge pages', can(found.hugePages)],
    ['zlib library', can(found.inflate)],
    ['zstd library', can(found.zstd)],
  ];
}
