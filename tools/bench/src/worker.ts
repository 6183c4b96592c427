import { bareEngine, type EngineOptions } from './workers/bare-engine.ts';
import { fsPromises, type PromisesOptions } from './workers/fs-promises.ts';
import { type LoadOptions, load } from './workers/load.ts';
import { type MemoryUseOptions, memoryUse } from './workers/memory-use.ts';
import { type ScanOptions, scan } from './workers/scan.ts';
import { type WriteShapeOptions, writeShape } from './workers/write-shape.ts';

const [name, json = '{}'] = process.argv.slice(2);
const options: unknown = JSON.parse(json);

const workers: Record<string, () => Promise<unknown>> = {
  load: () => load(options as LoadOptions),
  'fs-promises': () => fsPromises(options as PromisesOptions),
  'bare-engine': () => bareEngine(options as EngineOptions),
  'memory-use': () => memoryUse(options as MemoryUseOptions),
  'write-shape': () => writeShape(options as WriteShapeOptions),
  scan: () => scan(options as ScanOptions),
};

const work = workers[name ?? ''];
if (!work) throw new Error(`no worker named '${name}'; there are ${Object.keys(workers).join(', ')}`);
console.log(JSON.stringify(await work()));
