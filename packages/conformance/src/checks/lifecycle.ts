import { ensure, equal, failsWith } from '../expect.ts';
import type { Check } from '../types.ts';
import { everyRequest } from './requests.ts';

export const lifecycle: Check[] = [
  {
    name: 'lifecycle/size',
    about: 'an opened disk has the size and the content that the fixture says',
    requires: [],
    async run(bench) {
      equal(bench.disk.size, bench.fixture.size, 'size');
      equal(bench.disk.closed, false, 'closed');
      if (bench.fixture.content || bench.capabilities.store) await bench.verify('the disk as it was opened');
    },
  },
  {
    name: 'lifecycle/supports',
    about: 'the node can do what is said of it, and no less',
    requires: [],
    async run({ disk, capabilities }) {
      for (const [name, value] of Object.entries(disk.supports)) {
        equal(value, capabilities[name as keyof typeof capabilities], `supports.${name}`);
      }
    },
  },
  {
    name: 'lifecycle/close-twice',
    about: 'close() may be called twice, also before the first has settled',
    requires: [],
    async run({ disk }) {
      const first = disk.close();
      await Promise.all([first, disk.close()]);
      await disk.close();
      equal(disk.closed, true, 'closed');
    },
  },
  {
    name: 'lifecycle/after-close',
    about: 'every call after close fails with ERR_NODE_CLOSED',
    requires: [],
    async run(bench) {
      await bench.disk.close();
      for (const [name, request] of everyRequest(bench))
        await failsWith(request, 'ERR_NODE_CLOSED', `${name} after close`);
    },
  },
  {
    name: 'lifecycle/dispose',
    about: 'await using closes the disk',
    requires: [],
    async run({ disk, node }) {
      await disk[Symbol.asyncDispose]();
      equal(disk.closed, true, 'closed');
      equal(node.closed, true, 'the node below: closed');
    },
  },
  {
    name: 'lifecycle/close-drains',
    about: 'close waits for requests in flight, and they succeed',
    requires: [],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      const length = Math.min(bench.size, 1 << 18);
      const into = Array.from({ length: 8 }, () => new Uint8Array(length));
      let settled = 0;
      const reads = into.map((buffer) => bench.disk.read(0, buffer).then(() => settled++));
      await bench.disk.close();
      // Those that were in flight have settled; the callbacks of the last may be due in this turn.
      await Promise.resolve();
      ensure(
        settled === into.length,
        `close: ${into.length - settled} of ${into.length} reads were still in flight`,
      );
      await Promise.all(reads);
    },
  },
  {
    name: 'lifecycle/unknown-option',
    about: 'an option that the driver does not know is refused by name',
    requires: [],
    async run(bench) {
      const error = await failsWith(
        () => bench.open({ ...bench.fixture.options, noSuchOption: 1 }),
        'ERR_INVALID_OPTION',
        'open with an unknown option',
      );
      ensure(error.message.includes('noSuchOption'), `the error must name the option: ${error.message}`);
    },
  },
  {
    name: 'lifecycle/reopen',
    about: 'what was flushed is there when the same options are opened again',
    requires: ['write', 'store', 'persist'],
    minSize: 1,
    async run(bench) {
      await bench.fill();
      await bench.disk.flush();
      await bench.disk.close();
      bench.disk = await bench.open();
      await bench.verify('after opening again');
      await bench.write(0, bench.random.bytes(1));
      await bench.disk.close();
      bench.disk = await bench.open();
      await bench.verify('after close without flush');
    },
  },
];
