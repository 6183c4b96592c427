import { type BlockDriver, createRegistry } from '@blockyard/core';
import { inspect, qcow2 } from '../../../src/index.ts';
import { content } from '../guest/content.ts';
import { type Machine, RecordedFile } from '../machine/machine.ts';
import { describeSetup, type Setup } from './setup.ts';
import type { Subject } from './subject.ts';

export const fileNames = { image: 'disk', data: 'disk.data', backing: 'base' } as const;

const driver = qcow2() as unknown as BlockDriver;

/** A qcow2 image of one setup. `made`: the files, where another program has made them. */
export function image(setup: Setup, made?: ReadonlyMap<string, Uint8Array>): Subject {
  const backing = backingOf(setup);
  const { check } = driver;
  return {
    name: describeSetup(setup),
    drivers: [driver],
    image: fileNames.image,
    clusterSize: setup.clusterSize,
    size: setup.size,
    backing: backing ?? new Uint8Array(0),
    mayRefuse(operation, snapshots) {
      if (operation === 'resize') return snapshots > 0 && setup.version === 2;
      // A count of so few bits is soon at its most.
      // Compressed clusters share one of the file, and few bits are soon at their most.
      if (operation === 'snapshot') return setup.dataFile !== 'none' || setup.refcountBits <= 8;
      return setup.dataFile !== 'none';
    },
    async make(machine) {
      if (backing) keep(machine, fileNames.backing, backing);
      if (made) for (const [name, bytes] of made) keep(machine, name, bytes.slice());
      else await create(machine, setup, backing !== undefined);
    },
    tree(below, options = {}) {
      const { discard, detectZeroes, discardNoUnref, cacheSize, overlapCheck, dataFile } = setup;
      const readOnly = options.readOnly === true;
      return {
        driver: 'qcow2',
        ...(readOnly ? {} : { discard, detectZeroes, discardNoUnref, overlapCheck }),
        ...(cacheSize === undefined ? {} : { cacheSize }),
        ...options,
        file: below(fileNames.image),
        backing: backing ? { driver: 'raw', file: below(fileNames.backing) } : null,
        ...(dataFile === 'none' ? {} : { dataFile: below(fileNames.data) }),
      };
    },
    snapshots: async (file) => (await inspect(file)).snapshots?.map(({ name }) => name) ?? [],
    ...(check ? { check: (file, repair) => check.call(driver, file, { repair }) } : {}),
  };
}

/** Of lengths that do not fall on clusters. */
function backingOf({ backing, size }: Setup): Uint8Array | undefined {
  if (backing === 'none') return undefined;
  const part = { short: 0.6, same: 1, long: 1.3 }[backing];
  return content(7, 0, Math.ceil((size * part) / 512) * 512);
}

function keep(machine: Machine, name: string, bytes: Uint8Array): void {
  const file = new RecordedFile();
  file.live.put(0, bytes);
  machine.files.set(name, file);
}

async function create(machine: Machine, setup: Setup, backed: boolean): Promise<void> {
  const registry = createRegistry([machine.driver, driver]);
  const { version, clusterSize, refcountBits, extendedL2, lazyRefcounts, compressionType, dataFile } = setup;
  await registry.create(machine.below(fileNames.image), {
    format: 'qcow2',
    size: setup.size,
    compat: version === 2 ? 'v2' : 'v3',
    clusterSize,
    refcountBits,
    extendedL2,
    lazyRefcounts,
    compressionType,
    ...(backed ? { backingFile: fileNames.backing, backingFormat: 'raw' } : {}),
    ...(dataFile === 'none' ? {} : { dataFile: fileNames.data, dataFileRaw: dataFile === 'raw' }),
  });
}
