import { type BitmapInformation, type BitmapStore, BlockError, type BlockNode } from '@blockyard/core';
import { withoutFilters } from '../chain.ts';
import { refuse } from '../refuse.ts';

interface BitmapPlan {
  copied: readonly BitmapInformation[];
  skipped: readonly string[];
  into: BitmapStore;
}

/** What is to be copied, asked before anything is written. */
export async function planBitmaps(
  source: BlockNode,
  target: BlockNode,
  skipBroken: boolean,
): Promise<BitmapPlan> {
  const from = withoutFilters(source).features.bitmaps;
  if (!from)
    throw refuse(
      'ERR_NOT_SUPPORTED',
      'convert',
      source,
      `the driver '${source.driver}' keeps no bitmaps; leave out bitmaps`,
    );
  const into = withoutFilters(target).features.bitmaps;
  if (!into)
    throw refuse(
      'ERR_NOT_SUPPORTED',
      'convert',
      target,
      `the driver '${target.driver}' cannot keep bitmaps; choose another format, or leave out bitmaps`,
    );
  const all = await from.list();
  const broken = all.filter(({ inconsistent }) => inconsistent).map(({ name }) => name);
  if (broken.length > 0 && !skipBroken) {
    const text = `the bitmap '${broken[0]}' was in use when a program ended, and says nothing now; remove it, or skip broken bitmaps`;
    throw refuse('ERR_INVALID_IMAGE', 'convert', source, text);
  }
  return { copied: all.filter(({ inconsistent }) => !inconsistent), skipped: broken, into };
}

/** To be called when the data is written, so that the copies do not record the copying. */
export async function copyBitmaps(
  { copied, into }: BitmapPlan,
  source: BlockNode,
  target: BlockNode,
): Promise<void> {
  for (const { name, granularity, recording } of copied) {
    try {
      await into.add(name, { granularity, recording: false });
      await into.merge(name, name, withoutFilters(source));
      if (recording) await into.enable(name);
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      const details = {
        op: 'convert',
        path: target.path || undefined,
        node: target.name,
        driver: target.driver,
      };
      throw new BlockError(error.code, `convert: copying the bitmap '${name}': ${error.message}`, {
        ...details,
        cause: error,
      });
    }
  }
}
