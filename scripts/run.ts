// Builds a package if it has to be, and runs a program of it: run.ts PACKAGE FILE ARGUMENTS...
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { ensureBuilt, root } from './built.ts';

const [name = '', file = '', ...args] = process.argv.slice(2);
ensureBuilt(name);
// Names on the command line are meant from where the user is, not from the root that pnpm runs scripts in.
const cwd = process.env.INIT_CWD ?? process.cwd();
const child = spawn(process.execPath, [resolve(root, file), ...args], { cwd, stdio: 'inherit' });
// A terminal sends Ctrl-C to both: the program ends in its own way, and this one with it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
});
