import type { BlockNode, CheckResult } from '@blockyard/core';
import { corrupt } from '../failure.ts';
import { checkImage } from './check-image.ts';

/**
 * Makes an image usable that a program left without bringing its refcounts up to date ("lazy refcounts").
 * @throws BlockError ERR_CORRUPT when it is damaged otherwise
 */
export async function repairDirty(file: BlockNode, signal?: AbortSignal): Promise<CheckResult> {
  const result = await checkImage(file, { repair: 'all', signal });
  if (result.corruptions === 0 && result.checkErrors === 0) return result;
  const [finding = 'it could not be checked'] = result.findings.filter(
    (text) => !text.startsWith('repaired'),
  );
  throw corrupt(file, `it was not closed, and repairing it leaves ${result.corruptions} faults: ${finding}`);
}
