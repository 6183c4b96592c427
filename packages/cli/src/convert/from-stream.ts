import { BlockError, foreignFormat, probeBytes, probeHead } from '@blockyard/core';
import { type StreamInResult, writeFromStream } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { parseSize } from '../options/size.ts';
import { Target } from '../target/target.ts';
import { withProgress } from '../work.ts';
import type { ConvertJob } from './flags.ts';
import { report } from './report.ts';
import { withState } from './run.ts';

/** From standard input, raw bytes of unknown number. */
export async function fromStream(job: ConvertJob): Promise<void> {
  const { flags, registry, terminal } = job;
  const { stdin } = terminal.streams;
  if (flags.format !== undefined && flags.format !== 'raw') {
    throw new UsageError(
      `-f ${flags.format}: this format needs random access, which standard input has not; save it to a file first`,
    );
  }
  if (flags.snapshot !== undefined) throw new UsageError('-l: standard input has no snapshots');
  if (flags.verify)
    throw new UsageError(
      '--verify: what came through a pipe cannot be read again; compare checksums instead',
    );
  if ((stdin as { isTTY?: boolean }).isTTY)
    throw new UsageError('standard input is a terminal; give a file or a pipe');
  const sparse = parseSize(flags.sparse, '-S');
  const { noCreate, overwrite = false, cache, aio, options = [], targetImageOpts: imageOpts } = flags;
  const target = await Target.find(
    job.target,
    registry,
    { cache, aio, noCreate, overwrite, imageOpts, options },
    terminal,
  );
  const started = performance.now();
  // Whoever feeds the pipe may never write again.
  const stop = () => void stdin.destroy(terminal.signal.reason as Error);
  terminal.signal.addEventListener('abort', stop, { once: true });
  try {
    const check = flags.format === undefined ? (head: Uint8Array) => checkHead(head, job) : () => {};
    // Before the target is made: what is refused leaves nothing behind.
    const input = await checked(stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>, check);
    const node = await target.open(0);
    let result: StreamInResult;
    try {
      result = await withProgress(terminal, 'convert', flags, async (work) =>
        writeFromStream(input, node, {
          ...work,
          sparse,
          targetIsZero: target.isZero || flags.targetIsZero,
          grow: target.isZero,
        }),
      );
    } catch (error) {
      await target.abandon(node);
      throw error;
    }
    await node.close();
    await target.finish();
    report(job, result, performance.now() - started);
  } catch (error) {
    stdin.destroy();
    throw withState(terminal.signal.aborted ? terminal.signal.reason : error, await target.giveUp());
  } finally {
    terminal.signal.removeEventListener('abort', stop);
  }
}

function checkHead(head: Uint8Array, { registry }: ConvertJob): void {
  const found = probeHead(head, registry.drivers.values())?.name;
  const name = found ? `${found} image` : foreignFormat(head);
  if (name === undefined) return;
  const text = `convert from standard input: this is a ${name}, not the bytes of a disk; ${found ? 'save it to a file first' : 'unpack or convert it first'}, or say -f raw to take its bytes as they are`;
  throw new BlockError('ERR_UNSUPPORTED_FEATURE', text, { op: 'convert' });
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
