// Workers that are terminated with I/O in flight: node terminate.mjs <engine> <file> <count>
import { closeSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type EngineName, native } from '@blockyard/native';
import { openForLoad, startLoad } from './load.ts';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function parent(kind: string, file: string, count: number) {
  const fd = openForLoad(file);
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const worker = new Worker(new URL(import.meta.url), { workerData: { kind, fd } });
      let failure: unknown;
      worker.on('error', (error) => {
        failure = error;
      });
      const early = Math.random() < 0.2;
      if (!early) await new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
      await wait(Math.random() * (early ? 30 : 4));
      await worker.terminate();
      if (failure !== undefined) throw failure;
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  closeSync(fd);
  console.log('survived');
}

if (isMainThread) {
  const [kind, file, count] = process.argv.slice(2) as [string, string, string];
  await parent(kind, file, Number(count));
} else {
  const { kind, fd } = workerData as { kind: EngineName; fd: number };
  if (native === undefined) throw new Error('no native');
  startLoad(native, kind, fd, 40);
  // Some use a second engine too; some have one that is about to close.
  if (Math.random() < 0.3) {
    const other = native.engine('threads');
    void other.read(fd, 0, native.memory.create(4096, 4096));
    if (Math.random() < 0.5) void other.close();
  }
  parentPort?.postMessage('busy');
}
