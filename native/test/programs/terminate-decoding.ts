// Workers that are terminated while the pool decodes for them: node terminate-decoding.mjs <count>
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { deflateRawSync } from 'node:zlib';
import { native } from '@blockyard/native';

const LENGTH = 1 << 20;

async function parent(count: number) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const worker = new Worker(new URL(import.meta.url));
      let failure: unknown;
      worker.on('error', (error) => {
        failure = error;
      });
      await new Promise((resolve) => worker.once('message', resolve).once('exit', resolve));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      await worker.terminate();
      if (failure !== undefined) throw failure;
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  console.log('survived');
}

/** Keeps so many going, good and bad ones, until it is ended. */
function load(depth: number) {
  const inflate = native?.inflate;
  if (!inflate) throw new Error('no inflate');
  const good = deflateRawSync(Uint8Array.from({ length: LENGTH }, (_, i) => (i * i) >> 7));
  const lane = async (input: Uint8Array) => {
    for (;;) await inflate.decompress(input, new Uint8Array(LENGTH)).catch(() => {});
  };
  for (let i = 0; i < depth; i++) void lane(i % 4 === 3 ? good.subarray(0, good.length / 2) : good);
}

if (isMainThread) await parent(Number(process.argv[2]));
else {
  load(16);
  parentPort?.postMessage('busy');
}
