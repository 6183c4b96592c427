import type { Capabilities, ConformanceOptions } from '@blockyard/conformance';
import { type Flaws, storeDriver } from './store.ts';
import { stored } from './supports.ts';

const size = 150_001;

/** How the driver of the tests is tested, with or without flaws. */
export const flawed = (flaws: Flaws, declared: Partial<Capabilities> = {}): ConformanceOptions => ({
  driver: storeDriver(flaws),
  fixture: () => ({ options: { driver: 'store', store: { bytes: new Uint8Array(size) } }, size }),
  supports: { ...stored, persist: true, ...declared },
  passThrough: false,
  runs: 10,
  seed: 7,
});
