import { mkdir, writeFile } from 'node:fs/promises';
import { arch, cpus, release, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { native } from '@blockyard/native';
import { Command } from 'commander';
import { commandCases } from './cases/commands.ts';
import { diskCases, qcow2Cases } from './cases/disk.ts';
import { memoryCases } from './cases/memory.ts';
import { writingCases } from './cases/writing.ts';
import { makeImages, touch } from './images.ts';
import { type Result, runPairs } from './pairs.ts';
import { table } from './report.ts';

const program = new Command('bench')
  .description('Times Blockyard against its peers, in pairs, on this machine. Needs fio and qemu-img.')
  .argument('[filter...]', 'words that a case name must contain, any of them')
  .option('--pairs <n>', 'counted pairs of each case', '5')
  .option('--seconds <n>', 'length of one measurement of a rate', '2')
  .option(
    '--dir <folder>',
    'where the files of up to 8 GiB go, on a file system with direct I/O',
    join(tmpdir(), 'blockyard-bench'),
  )
  .option('--json <file>', 'where every sample goes', 'bench-results/bench.json')
  .parse();
const options = program.opts<{ pairs: string; seconds: string; dir: string; json: string }>();

const images = await makeImages(options.dir);
for (const file of [images.raw, images.qcow2, images.overwritten, images.text]) await touch(file);
const seconds = Number(options.seconds);
const cases = [
  ...diskCases(images, seconds),
  ...qcow2Cases(images, seconds),
  ...writingCases(images),
  ...commandCases(images),
  ...memoryCases(images, seconds, native !== undefined),
].filter(({ name }) => program.args.length === 0 || program.args.some((word) => name.includes(word)));

const results: Result[] = [];
for (const one of cases) {
  process.stderr.write(`${one.name} against ${one.peer}:`);
  try {
    results.push(
      await runPairs(one, Number(options.pairs), (ratio) => process.stderr.write(` ${ratio.toFixed(2)}`)),
    );
    process.stderr.write('\n');
  } catch (error) {
    process.stderr.write(` ${error instanceof Error ? error.message.split('\n')[0] : error}\n`);
    process.exitCode = 1;
  }
}

const machine = {
  date: new Date().toISOString().slice(0, 10),
  cpu: cpus()[0]?.model ?? arch(),
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
};
await mkdir(dirname(options.json), { recursive: true });
await writeFile(options.json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
console.log(table(results));
console.log(
  `\n${machine.date}, ${machine.cores} cores of ${machine.cpu}, Linux ${machine.kernel}, Node ${machine.node}. Every sample: ${options.json}`,
);
