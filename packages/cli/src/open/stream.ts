import { BlockError, foreignFormat, probeBytes, probeHead, type Registry } from '@blockyard/core';
import { UsageError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

export interface StreamFlags {
  format?: string | undefined;
  snapshot?: string | undefined;
}

/** Before standard input is read as raw bytes. @throws UsageError for what only a file can give. */
export function checkStreamFlags({ format, snapshot }: StreamFlags, { streams }: Terminal): void {
  if (format !== undefined && format !== 'raw') {
    throw new UsageError(
      `-f ${format}: this format needs random access, which standard input has not; save it to a file first`,
    );
  }
  if (snapshot !== undefined) throw new UsageError('-l: standard input has no snapshots');
  if ((streams.stdin as { isTTY?: boolean }).isTTY)
    throw new UsageError('standard input is a terminal; give a file or a pipe');
}

/** The bytes of standard input. Without `format` the first of them are looked at before any is given out. */
export async function openStream(
  doing: string,
  { format }: StreamFlags,
  registry: Registry,
  { streams }: Terminal,
): Promise<AsyncIterable<Uint8Array>> {
  const check = format === undefined ? (head: Uint8Array) => checkHead(doing, head, registry) : () => {};
  return await checked(streams.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>, check);
}

function checkHead(doing: string, head: Uint8Array, registry: Registry): void {
  const found = probeHead(head, registry.drivers.values())?.name;
  const name = found ? `${found} image` : foreignFormat(head);
  if (name === undefined) return;
  const text = `${doing} standard input: this is a ${name}, not the bytes of a disk; ${found ? 'save it to a file first' : 'unpack or convert it first'}, or say -f raw to take its bytes as they are`;
  throw new BlockError('ERR_UNSUPPORTED_FEATURE', text, { op: 'open' });
}

/** Holds the first bytes back until they have been looked at. */
async function checked(
  input: AsyncIterator<Uint8Array>,
  check: (head: Uint8Array) => void,
): Promise<AsyncIterable<Uint8Array>> {
  const first: Uint8Array[] = [];
  let held = 0;
  while (held < probeBytes) {
    const { done, value } = await input.next();
    if (done) break;
    first.push(value);
    held += value.byteLength;
  }
  check(Buffer.concat(first).subarray(0, probeBytes));
  return {
    async *[Symbol.asyncIterator]() {
      yield* first;
      while (true) {
        const { done, value } = await input.next();
        if (done) return;
        yield value;
      }
    },
  };
}
