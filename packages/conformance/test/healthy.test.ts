import { conformance } from '@blockyard/conformance/vitest';
import { flawed } from './support/fixture.ts';

// Without this, finding a flaw in the same driver would prove nothing.
conformance({ ...flawed({}), name: 'the driver of the tests, without a flaw' });

conformance({
  ...flawed({ block: 512 }),
  name: 'the same in blocks of 512 bytes, on a disk that ends within one',
  passThrough: true,
});
conformance({ ...flawed({ block: 4096 }), name: 'the same in blocks of 4096 bytes' });
