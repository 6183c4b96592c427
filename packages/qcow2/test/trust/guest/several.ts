import type { Random } from '../random.ts';
import { drawOperation } from './draw.ts';
import type { Guest } from './guest.ts';
import { isRange, type Operation } from './operations.ts';

interface Flying {
  start: number;
  end: number;
  work: Promise<void>;
}

/**
 * Does `count` operations, up to `width` at once. Those in flight share clusters, but no bytes, so that what the disk
 * holds is sure; what concerns the whole disk is done alone, but for flushes, which come at any time.
 */
export async function doSeveral(guest: Guest, random: Random, count: number, width: number): Promise<void> {
  const flying = new Set<Flying>();
  let failure: { error: unknown } | undefined;
  const settle = async (some: Iterable<Flying>) => {
    await Promise.all([...some].map(({ work }) => work));
    if (failure) throw failure.error;
  };
  const start = (operation: Operation, range: { offset: number; length: number } | undefined) => {
    const one: Flying = {
      start: range?.offset ?? 0,
      end: range ? range.offset + range.length : 0,
      work: Promise.resolve(),
    };
    flying.add(one);
    one.work = guest.perform(operation).then(
      () => void flying.delete(one),
      (error: unknown) => {
        flying.delete(one);
        failure ??= {
          error: new Error(`${JSON.stringify(operation)}: ${(error as Error).message}`, { cause: error }),
        };
      },
    );
  };
  for (let i = 0; i < count && !failure; i++) {
    const operation = drawOperation(random);
    if (isRange(operation)) {
      const range = guest.range(operation);
      if (!range) continue;
      const end = range.offset + range.length;
      await settle([...flying].filter((one) => one.start < end && range.offset < one.end));
      start(operation, range);
    } else if (operation.kind === 'flush') start(operation, undefined);
    else {
      await settle(flying);
      start(operation, undefined);
      await settle(flying);
    }
    if (flying.size >= width) await Promise.race([...flying].map(({ work }) => work));
  }
  await settle(flying);
}
