import {
  type BlockDriver,
  BlockError,
  commonOptions,
  type OptionSpec,
  type OptionSpecs,
} from '@blockyard/core';
import type { Command } from 'commander';
import { type OutputFlags, outputOptions } from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { table } from '../output/table.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
Options are given in a graph ({"driver":"file","filename":"a.raw"}), or as key=value
with --image-opts.

Examples:
  blockyard drivers
  blockyard drivers qcow2
`;

export function define(command: Command, terminal: Terminal): void {
  command.description('Lists the drivers, or the options of one.').argument('[driver]');
  outputOptions(command).addHelpText('after', help);
  command.action((name: string | undefined) => {
    applyOutput(terminal, command.opts<OutputFlags>());
    const { drivers } = cliRegistry();
    if (name === undefined) return list([...drivers.values()], terminal);
    const driver = drivers.get(name);
    if (!driver) {
      const text = `drivers: no driver is named '${name}'; there are ${[...drivers.keys()].join(', ')}`;
      throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op: 'drivers' });
    }
    describe(driver, terminal);
  });
}

function list(drivers: readonly BlockDriver[], terminal: Terminal): void {
  const order = ['format', 'protocol', 'filter'];
  const sorted = [...drivers].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
  );
  if (terminal.json) {
    const all = sorted.map((driver) => toJson(driver));
    return terminal.printJson({ drivers: all, commonOptions });
  }
  for (const line of table(sorted.map(({ name, kind, help }) => [name, kind, help]))) terminal.print(line);
  terminal.print(terminal.out.dim('blockyard drivers <name> tells the options of one'));
}

function describe(driver: BlockDriver, terminal: Terminal): void {
  if (terminal.json) return terminal.printJson({ ...toJson(driver), commonOptions });
  const { dim, bold } = terminal.out;
  terminal.print(`${bold(driver.name)} (${driver.kind}): ${driver.help}`);
  if (driver.schemes?.length)
    terminal.print(`${dim('URLs:')} ${driver.schemes.map((scheme) => `${scheme}://`).join(', ')}`);
  terminal.print(dim('options:'));
  for (const line of table(rows(driver.options))) terminal.print(`  ${line}`);
  if (driver.createOptions) {
    terminal.print(dim('options of a new image:'));
    for (const line of table(rows(driver.createOptions))) terminal.print(`  ${line}`);
  }
  terminal.print(dim('options of every driver:'));
  for (const line of table(rows(commonOptions))) terminal.print(`  ${line}`);
}

const toJson = ({ name, kind, help, schemes = [], options, createOptions }: BlockDriver) => ({
  name,
  kind,
  help,
  schemes,
  options,
  ...(createOptions ? { createOptions } : {}),
});

function rows(specs: OptionSpecs, path = ''): string[][] {
  return Object.entries(specs).flatMap(([name, spec]) => {
    const key = path ? `${path}.${name}` : name;
    if (spec.type === 'object') return rows(spec.fields, key);
    const needed = 'required' in spec && spec.required ? ' (required)' : '';
    return [[key, typeName(spec), `${spec.help}${needed}`]];
  });
}

function typeName(spec: OptionSpec): string {
  if (spec.type === 'enum') return spec.values.join('|');
  if (spec.type === 'boolean') return 'on|off';
  return spec.type === 'any' ? 'for programs' : spec.type;
}
