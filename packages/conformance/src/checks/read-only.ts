import { equal, failsWith } from '../expect.ts';
import type { Check } from '../types.ts';
import { changingRequests, readingRequests } from './requests.ts';

export const readOnly: Check[] = [
  {
    name: 'read-only/refuses',
    about: 'a disk opened read-only refuses every change with ERR_READ_ONLY, and still reads',
    requires: [],
    open: { readOnly: true },
    async run(bench) {
      const { disk, capabilities } = bench;
      equal(disk.readOnly, true, 'readOnly');
      const refusal = capabilities.write ? 'ERR_READ_ONLY' : ['ERR_READ_ONLY', 'ERR_NOT_SUPPORTED'];
      for (const [name, request] of changingRequests(bench))
        await failsWith(request, refusal, `${name} on a read-only disk`);
      for (const [, request] of readingRequests(bench)) await request();
      if (bench.fixture.content || capabilities.store) await bench.verify('after refused changes');
    },
  },
  {
    name: 'read-only/unsupported',
    about: 'a driver that cannot write says so',
    requires: [],
    unless: 'write',
    async run(bench) {
      for (const [name, request] of changingRequests(bench)) {
        await failsWith(
          request,
          ['ERR_READ_ONLY', 'ERR_NOT_SUPPORTED'],
          `${name} on a driver that cannot write`,
        );
      }
      await bench.verify('after refused changes');
    },
  },
  {
    name: 'read-only/reopened',
    about: 'what was written is read by a read-only disk',
    requires: ['write', 'store', 'persist'],
    async run(bench) {
      await bench.fill();
      await bench.disk.close();
      bench.disk = await bench.open(bench.tree({ readOnly: true }));
      await bench.verify('read-only');
    },
  },
];
