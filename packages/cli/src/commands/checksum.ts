import { createHash } from 'node:crypto';
import type { Registry } from '@blockyard/core';
import { type Checksum, checksum } from '@blockyard/image-ops';
import type { Command } from 'commander';
import { exitCodes, UsageError } from '../exit.ts';
import { reportFailure } from '../failure.ts';
import { openSource } from '../open/source.ts';
import { checkStreamFlags, openStream } from '../open/stream.ts';
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
the same, at one to two GB a second. Of several images that one fails does not stop
the others; the exit code is 1 then.

Examples:
  blockyard checksum vm.qcow2
  blockyard checksum -l before-update --json vm.qcow2
  xz -dc board.img.xz | blockyard checksum -
`;

interface ChecksumFlags extends SourceFlags, OutputFlags, WorkFlags {
  snapshot?: string;
}

export function define(command: Command, terminal: Terminal, finish: (code: number) => void): void {
  command.description('Prints the SHA-256 of what a guest sees.').argument('<image...>');
  outputOptions(workOptions(sourceOptions(command)))
    .option('-l, --snapshot <name>', 'the disk of an internal snapshot')
    .addHelpText('after', help);
  command.action(async (images: string[]) => {
    const flags = command.opts<ChecksumFlags>();
    applyOutput(terminal, flags);
    const all: object[] = [];
    let code: number = exitCodes.ok;
    try {
      for (const image of images) {
        try {
          const result = await digestOf(image, flags, terminal);
          if (terminal.json) all.push({ image, ...result });
          else terminal.print(`${result.digest}  ${printable(image)}`);
        } catch (error) {
          if (images.length === 1 || error instanceof UsageError || terminal.signal.aborted) throw error;
          // As sha256sum: the others have their digests all the same.
          code = reportFailure(error, terminal, Boolean(terminal.streams.env.BLOCKYARD_DEBUG));
        }
      }
    } finally {
      if (terminal.json && (images.length > 1 || all.length > 0))
        terminal.printJson(images.length === 1 ? all[0] : all);
    }
    finish(code);
  });
}

async function digestOf(image: string, flags: ChecksumFlags, terminal: Terminal): Promise<Checksum> {
  const registry = cliRegistry();
  if (image === '-' && !flags.imageOpts) return await digestOfStream(flags, registry, terminal);
  const node = await openSource(image, registry, flags, terminal);
  try {
    return await withProgress(terminal, 'checksum', flags, (options) => checksum(node, options));
  } finally {
    await node.close();
  }
}

/** Of the raw bytes that come. */
async function digestOfStream(
  flags: ChecksumFlags,
  registry: Registry,
  terminal: Terminal,
): Promise<Checksum> {
  checkStreamFlags(flags, terminal);
  const { signal, streams } = terminal;
  // Whoever feeds the pipe may never write again.
  const stop = () => void streams.stdin.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const input = await openStream('checksum of', flags, registry, terminal);
    return await withProgress(terminal, 'checksum', flags, async ({ onProgress }) => {
      const hash = createHash('sha256');
      let size = 0;
      for await (const bytes of input) {
        hash.update(bytes);
        size += bytes.byteLength;
        onProgress?.({ done: size, total: 0, zero: 0 });
      }
      return { algorithm: 'sha256', digest: hash.digest('hex'), size, bytesZero: 0 };
    });
  } finally {
    signal.removeEventListener('abort', stop);
    streams.stdin.destroy();
  }
}
