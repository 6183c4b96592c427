import type { BlockDriver } from '@blockyard/core';
import { RecordedFile } from '../machine/machine.ts';
import type { Subject } from './subject.ts';

/** A disk without a format: what the machine itself is tested with, and the frame for disks with flaws. */
export function plain(size: number, top?: BlockDriver): Subject {
  return {
    name: top ? `raw below ${top.name}` : 'raw',
    drivers: top ? [top] : [],
    image: 'disk',
    clusterSize: 4096,
    size,
    backing: new Uint8Array(0),
    mayRefuse: () => true,
    async make(machine) {
      const file = new RecordedFile();
      file.live.resize(size);
      machine.files.set('disk', file);
    },
    tree(below, options = {}) {
      // Without discards and changes of size: what the machine does of them, a format hides.
      const raw = { driver: 'raw', size, ...options, file: below('disk') };
      return top ? { driver: top.name, ...options, file: raw } : raw;
    },
  };
}
