import { checksum } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { openSource } from '../open/source.ts';
import {
  type OutputFlags,
  outputOptions,
  type SourceFlags,
  sourceOptions,
  type WorkFlags,
  workOptions,
} from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { printable } from '../output/printable.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';
import { withProgress } from '../work.ts';

const help = `
The digest is that of the raw image: blockyard checksum vm.qcow2 equals
sha256sum vm.raw. Holes are not read, but SHA-256 has to take in their zeroes all
the same, at one to two GB a second.

Examples:
  blockyard checksum vm.qcow2
  blockyard checksum -l before-update --json vm.qcow2
`;

interface ChecksumFlags extends SourceFlags, OutputFlags, WorkFlags {
  cache?: string;
  snapshot?: string;
}

export function define(command: Command, terminal: Terminal): void {
  command.description('Prints the SHA-256 of what a guest sees.').argument('<image...>');
  outputOptions(workOptions(sourceOptions(command)))
    .option('-l, --snapshot <name>', 'the disk of an internal snapshot')
    .addHelpText('after', help);
  command.action(async (images: string[]) => {
    const flags = command.opts<ChecksumFlags>();
    applyOutput(terminal, flags);
    const registry = cliRegistry();
    const settings = { ...flags, ...(flags.cache === undefined ? {} : { sourceCache: flags.cache }) };
    const all: object[] = [];
    for (const image of images) {
      const node = await openSource(image, registry, settings, terminal);
      try {
        const result = await withProgress(terminal, 'checksum', flags, (options) => checksum(node, options));
        if (terminal.json) all.push({ image, ...result });
        else terminal.print(`${result.digest}  ${printable(image)}`);
      } finally {
        await node.close();
      }
    }
    if (terminal.json) terminal.printJson(images.length === 1 ? all[0] : all);
  });
}
