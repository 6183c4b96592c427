import { type StreamInResult, writeFromStream } from '@blockyard/image-ops';
import { UsageError } from '../exit.ts';
import { checkStreamFlags, openStream } from '../open/stream.ts';
import { parseSize } from '../options/size.ts';
import { Target } from '../target/target.ts';
import { wholeSectors } from '../target/whole-sectors.ts';
import { withProgress } from '../work.ts';
import { type ConvertJob, targetFlags } from './flags.ts';
import { report } from './report.ts';

/** From standard input, raw bytes of unknown number. */
export async function fromStream(job: ConvertJob): Promise<void> {
  const { flags, registry, terminal } = job;
  const { stdin } = terminal.streams;
  if (flags.verify)
    throw new UsageError(
      '--verify: what came through a pipe cannot be read again; compare checksums instead',
    );
  const notHere = {
    '-c': flags.compress,
    '-B': flags.backing,
    '--bitmaps': flags.bitmaps,
    '--salvage': flags.salvage,
  };
  for (const [flag, given] of Object.entries(notHere))
    if (given !== undefined)
      throw new UsageError(`${flag} is not for what comes through a pipe; save it to a file first`);
  checkStreamFlags(flags, terminal);
  const sparse = parseSize(flags.sparse, '-S');
  const target = await Target.find(job.target, registry, targetFlags(job), terminal);
  const started = performance.now();
  // Whoever feeds the pipe may never write again.
  const stop = () => void stdin.destroy(terminal.signal.reason as Error);
  terminal.signal.addEventListener('abort', stop, { once: true });
  try {
    // Before the target is made: what is refused leaves nothing behind.
    const input = await openStream('convert from', flags, registry, terminal);
    await target.make(0);
    const node = await target.open();
    let result: StreamInResult;
    try {
      result = await withProgress(terminal, 'convert', flags, async (work) =>
        writeFromStream(input, node, {
          ...target.watch(work),
          sparse,
          targetIsZero: target.isZero || flags.targetIsZero,
          grow: target.isZero,
        }),
      );
      if (target.isZero) await node.truncate(wholeSectors(node.size, flags.targetFormat, terminal));
    } catch (error) {
      await target.abandon(node);
      throw error;
    }
    await node.close();
    await target.finish();
    report(job, result, performance.now() - started);
  } catch (error) {
    stdin.destroy();
    throw await target.failed(terminal.signal.aborted ? terminal.signal.reason : error);
  } finally {
    terminal.signal.removeEventListener('abort', stop);
  }
}
