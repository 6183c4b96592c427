import type { BlockNode, Extent } from '@blockyard/core';
import { map } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { openSource } from '../open/source.ts';
import { type OutputFlags, outputOptions, type SourceFlags, sourceOptions } from '../options/common.ts';
import { parseSize } from '../options/size.ts';
import { applyOutput } from '../output/apply.ts';
import { printable } from '../output/printable.ts';
import { shownPath } from '../output/shown.ts';
import { cliRegistry } from '../registry.ts';
import type { Terminal } from '../terminal.ts';

const help = `
The text has a line for each extent of data, as from qemu-img map; --json has every
extent with its depth in the backing chain, in the keys of qemu-img.

Examples:
  blockyard map vm.qcow2
  blockyard map --json -s 1G -l 64M vm.qcow2
`;

interface MapFlags extends SourceFlags, OutputFlags {
  startOffset?: string;
  maxLength?: string;
  snapshot?: string;
}

export function define(command: Command, terminal: Terminal): void {
  command.description('Prints where data and zeroes are.').argument('<image>');
  outputOptions(sourceOptions(command))
    .option('-s, --start-offset <offset>', 'begin here')
    .option('-l, --max-length <length>', 'end after so many bytes')
    .option('--snapshot <name>', 'the disk of an internal snapshot')
    .addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<MapFlags>();
    applyOutput(terminal, flags);
    const { startOffset, maxLength } = flags;
    const range = {
      ...(startOffset === undefined ? {} : { start: parseSize(startOffset, '--start-offset') }),
      ...(maxLength === undefined ? {} : { length: parseSize(maxLength, '--max-length') }),
    };
    const node = await openSource(image, cliRegistry(), flags, terminal);
    try {
      const extents = located(node, map(node, { ...range, signal: terminal.signal }));
      await (terminal.json ? printJson(extents, terminal) : printText(extents, image, terminal));
    } finally {
      await node.close();
    }
  });
}

/** What the raw format does not tell, where nobody finds holes, its file does: where the bytes are. */
async function* located(node: BlockNode, extents: AsyncIterable<Extent>): AsyncGenerator<Extent> {
  const { file } = node.children;
  const { offset: start = 0 } = node.describeOptions() as { offset?: number };
  for await (const extent of extents) {
    if (extent.hostOffset !== undefined || !extent.data || node.driver !== 'raw' || !file) yield extent;
    else {
      const { hostOffset, hostNode } = await file.blockStatus(start + extent.offset, extent.length);
      yield { ...extent, ...(hostOffset === undefined || !hostNode ? {} : { hostOffset, hostNode }) };
    }
  }
}

/** Line by line: a map can be long. */
async function printJson(extents: AsyncIterable<Extent>, terminal: Terminal): Promise<void> {
  let line: string | undefined;
  for await (const extent of extents) {
    const { offset: start, length, depth, present, zero, data, compressed, hostOffset: offset } = extent;
    const json = {
      start,
      length,
      depth,
      present,
      zero,
      data,
      compressed,
      ...(offset === undefined ? {} : { offset }),
    };
    // With the spaces of qemu-img, so that the two can be compared line by line.
    const text = Object.entries(json).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
    if (line !== undefined) terminal.print(`${line},`);
    line = `${line === undefined ? '[' : ''}{ ${text.join(', ')}}`;
  }
  terminal.print(`${line ?? '['}]`);
}

const columns = [16, 16, 16];

async function printText(extents: AsyncIterable<Extent>, image: string, terminal: Terminal): Promise<void> {
  const row = (cells: string[]) =>
    terminal.print(
      cells
        .map((cell, i) => cell.padEnd(columns[i] ?? 0))
        .join('')
        .trimEnd(),
    );
  row(['Offset', 'Length', 'Mapped to', 'File']);
  const hex = (n: number) => (n === 0 ? '0' : `0x${n.toString(16)}`);
  for await (const { offset, length, data, zero, compressed, hostOffset, hostNode } of extents) {
    if (!data || zero) continue;
    const place = hostOffset === undefined ? (compressed ? 'compressed' : '?') : hex(hostOffset);
    row([hex(offset), hex(length), place, printable(shownPath(hostNode?.path ?? '', image))]);
  }
}
