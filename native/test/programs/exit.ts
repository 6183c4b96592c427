// A process that exits at a random moment with I/O in flight: node exit.mjs <engine> <file>
import { type EngineName, native } from '@blockyard/native';
import { openForLoad, startLoad } from './load.ts';

const [kind, file] = process.argv.slice(2) as [EngineName, string];
if (native === undefined) throw new Error('no native');
const fd = openForLoad(file);
startLoad(native, kind, fd, 40);
const engine = native.engine(kind);
const way = Math.random();
if (way < 0.1) process.exit(0);
// From within a completion, or from a timer.
if (way < 0.4) engine.readCallback(fd, 0, native.memory.create(4096, 4096), () => process.exit(0));
else if (way < 0.7) engine.read(fd, 0, native.memory.create(4096, 4096)).finally(() => process.exit(0));
setTimeout(() => process.exit(0), Math.random() * 5);
