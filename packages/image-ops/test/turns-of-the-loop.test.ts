import { describe, expect, it } from 'vitest';
import { checksum, compare, convert } from '../src/index.ts';
import { closing } from './lifecycle.ts';
import { registry } from './support.ts';

const keep = closing();

/** Every request on it is done at once, and all of it counts as data. */
const endless = () => keep(registry.openNode({ driver: 'null', size: 2 ** 45 }));

describe('an operation that never waits can be stopped all the same', () => {
  it.each(['convert', 'compare', 'checksum'] as const)('%s', async (operation) => {
    const [a, b] = [await endless(), await endless()];
    const options = { signal: AbortSignal.timeout(50), sparse: 0 };
    const work = {
      convert: () => convert(a, b, options),
      compare: () => compare(a, b, options),
      checksum: () => checksum(a, options),
    };
    await expect(work[operation]()).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
