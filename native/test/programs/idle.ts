// Ends by itself: an engine that is not closed, but idle, does not keep the process. Prints when all is read.
import { openSync } from 'node:fs';
import { type EngineName, native } from '@blockyard/native';

const [kind, file] = process.argv.slice(2) as [EngineName, string];
const engine = native?.engine(kind);
const fd = openSync(file, 'r');
engine?.read(fd, 0, new Uint8Array(4096)).then(async (bytes) => {
  // A turn of the loop with nothing in flight, then again.
  await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(bytes + ((await engine.read(fd, 0, new Uint8Array(10))) ?? 0));
});
