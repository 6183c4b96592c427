import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoImage, published, root, temporaryFolder } from './support/repository.ts';
import { run } from './support/run.ts';

interface Example {
  name: string;
  language: string;
  code: string;
}

/** The blocks of code marked `ts`, `js` or `sh` in a page. */
function examplesIn(page: string): Example[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(ts|js|sh)\n([\s\S]*?)^```/gm)].map(
    ([whole, language = '', code = ''], index) => {
      const line = text.slice(0, text.indexOf(whole)).split('\n').length;
      return { name: `${page}:${line} (${index + 1})`, language, code };
    },
  );
}

const readmes = published.map(({ directory }) => `${directory}/README.md`);
const docs = readdirSync(join(root, 'docs')).flatMap((name) =>
  name.endsWith('.md') ? [`docs/${name}`] : [],
);
const pages = ['README.md', ...docs, ...readmes].filter((page) => existsSync(join(root, page)));
// A block without an import is a fragment.
const programs = pages
  .flatMap(examplesIn)
  .filter(({ language, code }) => language !== 'sh' && /^import /m.test(code));
const typed = programs.filter(({ language }) => language === 'ts');
// Commands of ours and nothing else: a page may also show how to install it.
const isOurs = (code: string): boolean =>
  code.split('\n').every((line) => line === '' || line.startsWith('#') || line.startsWith('blockyard '));
const commands = pages.flatMap(examplesIn).filter(({ language, code }) => language === 'sh' && isOurs(code));

/** A folder with the images that examples name, where every package of ours can be imported, built. */
function sandbox() {
  const folder = temporaryFolder();
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  const { path, name } = demoImage();
  const backing = `${basename(name, '.qcow2')}-base.qcow2`;
  for (const copy of ['vm.qcow2', 'disk.qcow2']) cpSync(path, join(folder.path, copy));
  cpSync(join(dirname(path), backing), join(folder.path, backing));
  writeFileSync(join(folder.path, 'disk.raw'), Buffer.alloc(4 << 20, 'Blockyard '));
  return folder;
}

const isTest = (code: string): boolean => /from '(?:vitest|@blockyard\/conformance\/vitest)'/.test(code);

describe('run', () => {
  test.each(programs)('$name', async ({ code, language }) => {
    const folder = sandbox();
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const script = language === 'js' ? code : ts.transpileModule(code, { compilerOptions }).outputText;
    try {
      if (isTest(code)) {
        writeFileSync(join(folder.path, 'example.test.mjs'), script);
        writeFileSync(join(folder.path, 'vitest.config.mjs'), 'export default {};\n');
        const vitest = join(root, 'node_modules/vitest/vitest.mjs');
        await run(process.execPath, [vitest, 'run', '--root', folder.path], folder.path, {
          BLOCKYARD_TEST_COUNTS: '',
        });
      } else {
        writeFileSync(join(folder.path, 'example.mjs'), script);
        await run(process.execPath, ['example.mjs'], folder.path);
      }
    } finally {
      folder.remove();
    }
  });

  test.each(commands)('$name', async ({ code }) => {
    const folder = sandbox();
    const cli = join(root, 'packages/cli/bin/blockyard.js');
    const script = `set -e\nblockyard() { "${process.execPath}" "${cli}" "$@"; }\n${code}`;
    try {
      await run('sh', ['-c', script], folder.path);
    } finally {
      folder.remove();
    }
  });
});

describe('type check', () => {
  const folder = temporaryFolder();
  let output: string;
  const fileOf = (index: number) => `example-${index}.mts`;

  beforeAll(async () => {
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
    for (const [index, { code }] of typed.entries()) writeFileSync(join(folder.path, fileOf(index)), code);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
      ...{ lib: ['es2023', 'esnext.disposable'], types: ['node'] },
    };
    writeFileSync(
      join(folder.path, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.mts'] }),
    );
    const tsc = join(root, 'node_modules/typescript7/bin/tsc');
    output = await run(process.execPath, [tsc, '-p', '.'], folder.path).then(
      () => '',
      (error: Error) => error.message,
    );
  });
  afterAll(folder.remove);

  test.each(typed.map((example, index) => ({ ...example, index })))('$name', ({ index }) => {
    expect(output.split('\n').filter((line) => line.startsWith(fileOf(index)))).toEqual([]);
  });
});
