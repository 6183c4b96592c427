import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closure, demoImage, root, temporaryFolder } from './support/repository.ts';
import { run } from './support/run.ts';
import { packAll } from './support/tarballs.ts';

const scratch = temporaryFolder();
const demo = demoImage();
let tarball: (name: string) => string;

beforeAll(async () => {
  const packed = await packAll(scratch.path);
  tarball = (name) => `file:${packed.get(name)?.path}`;
});
afterAll(scratch.remove);

/** An empty project with these packages, by plain npm. What they need of ours comes from tarballs too: nothing is published yet. */
async function project(name: string, wanted: readonly string[]): Promise<string> {
  const folder = join(scratch.path, name);
  await mkdir(folder);
  const needed = closure(wanted).filter((one) => !wanted.includes(one));
  const manifest = {
    private: true,
    dependencies: Object.fromEntries(wanted.map((one) => [one, tarball(one)])),
    overrides: Object.fromEntries(needed.map((one) => [one, tarball(one)])),
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], folder);
  return folder;
}

const program = (load: (name: string, from: string) => string) => `
${load('{ createHash }', 'node:crypto')}
${load('{ createRegistry }', '@blockyard/core')}
${load('{ qcow2 }', '@blockyard/qcow2')}
${load('{ rawPosix }', '@blockyard/raw-posix')}
async function main() {
  const drivers = createRegistry([rawPosix(), qcow2()]);
  const disk = await drivers.open(process.argv[2] ?? '', {
    format: 'qcow2',
    references: 'same-directory',
    options: { readOnly: true },
  });
  const hash = createHash('sha256');
  for await (const chunk of disk.readable()) hash.update(chunk);
  await disk.close();
  console.log(hash.digest('hex'));
}
main();
`;
const imported = program((name, from) => `import ${name} from '${from}';`);
const required = program((name, from) => `const ${name} = require('${from}');`);

test('three packages are enough to read an image, and bring nothing else of ours but what they need', async () => {
  const wanted = ['@blockyard/core', '@blockyard/raw-posix', '@blockyard/qcow2'];
  const folder = await project('reader', wanted);
  const installed = readdirSync(join(folder, 'node_modules/@blockyard')).map((name) => `@blockyard/${name}`);
  expect(installed.sort()).toEqual(closure(wanted));
  expect(readdirSync(join(folder, 'node_modules'))).not.toContain('blockyard');

  await writeFile(join(folder, 'read.mjs'), imported);
  await writeFile(join(folder, 'read.cjs'), required);
  for (const file of ['read.mjs', 'read.cjs']) {
    expect((await run(process.execPath, [file, demo.path], folder)).trim(), file).toBe(demo.sha256);
  }

  await writeFile(join(folder, 'read.mts'), imported);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023'];
  const nodeTypes = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const tsc = join(root, 'node_modules/typescript7/bin/tsc');
  await run(process.execPath, [tsc, ...options, ...nodeTypes, 'read.mts'], folder);
});

test('the command line installs and runs', async () => {
  const folder = await project('cli', ['blockyard']);
  const blockyard = join(folder, 'node_modules/.bin/blockyard');
  expect(await run(blockyard, ['--help'], folder)).toContain('convert');
  const report = JSON.parse(await run(blockyard, ['info', '--json', demo.path], folder)) as Record<
    string,
    unknown
  >;
  expect(report['virtual-size'] ?? report.virtualSize).toBe(64 << 20);
});
