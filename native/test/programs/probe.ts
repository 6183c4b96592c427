// Prints the probe, which engine `auto` takes, and what a read by it gives: node probe.mjs <file>
import { openSync } from 'node:fs';
import { native, probe } from '@blockyard/native';

const fd = openSync(process.argv[2] as string, 'r');
const engine = native?.engine('auto', { direct: process.argv[3] === 'direct' });
const bytes = await engine?.read(fd, 0, new Uint8Array(100));
let refusal: string | undefined;
try {
  await native?.engine('io_uring').close();
} catch (error) {
  refusal = (error as Error).message;
}
console.log(JSON.stringify({ ...probe(), auto: engine?.name, bytes, refusal }));
