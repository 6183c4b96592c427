import { type StreamInResult, writeFromStream } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { checkStreamFlags, openStream } from '../open/stream.ts';
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
  if (flags.verify)
    throw new UsageError(
      '--verify: what came through a pipe cannot be read again; compare checksums instead',
    );
  checkStreamFlags(flags, terminal);
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
    // Before the target is made: what is refused leaves nothing behind.
    const input = await openStream('convert from', flags, registry, terminal);
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
