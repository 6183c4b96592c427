import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { published, root, temporaryFolder } from './support/repository.ts';
import { run } from './support/run.ts';
import { contentOf, type Packed, packAll } from './support/tarballs.ts';

const scratch = temporaryFolder();
let packed: Map<string, Packed>;

beforeAll(async () => {
  packed = await packAll(scratch.path);
});
afterAll(scratch.remove);

const get = (name: string): Packed => {
  const found = packed.get(name);
  if (!found) throw new Error(`${name} was not packed`);
  return found;
};

describe.each(published.map(({ name }) => name))('%s', (name) => {
  test('has what it is meant to have, and nothing else', () => {
    const { files } = get(name);
    const expected =
      /^(?:package\.json|README\.md|LICENSE|addon\.(?:cjs|d\.cts)|NOTICE|bin\/(?:[\w-]+\.js|package\.json)|dist\/.*\.(?:[cm]?js|d\.[cm]?ts|map)|prebuilds\/[\w-]+\/@blockyard\+native\.node)$/;
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
    expect(paths.some((path) => path.startsWith('dist/'))).toBe(true);
  });

  test('is of a sane size', () => {
    const { path, files } = get(name);
    expect(statSync(path).size).toBeLessThan(1 << 20);
    for (const file of files) expect(file.bytes, file.path).toBeLessThan(2 << 20);
  });

  test('says nothing that only the workspace understands', () => {
    const manifest = contentOf(get(name), 'package.json').toString();
    expect(manifest).not.toMatch(/workspace:|catalog:|@blockyard\/source/);
    expect(manifest).toContain('"license": "Apache-2.0"');
  });

  test('has no path of this machine in it', () => {
    const machine = [root, homedir()];
    const found = get(name).files.flatMap(({ path }) => {
      const bytes = contentOf(get(name), path);
      return machine.filter((text) => bytes.includes(text)).map((text) => `${path}: ${text}`);
    });
    expect(found).toEqual([]);
  });

  test('gives the licences of what is bundled into it', () => {
    const sources = get(name).files.flatMap(({ path }) => {
      if (!path.endsWith('.map')) return [];
      return (JSON.parse(contentOf(get(name), path).toString()) as { sources: string[] }).sources;
    });
    const bundled = sources.flatMap(
      (source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [],
    );
    const notice = bundled.length > 0 ? contentOf(get(name), 'NOTICE').toString() : '';
    expect([...new Set(bundled)].filter((one) => !notice.includes(`${one} `))).toEqual([]);
  });

  test('publint finds nothing', async () => {
    const { path } = get(name);
    const bytes = readFileSync(path);
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg ?? {}, { color: false }))).toEqual([]);
  });

  test('its types resolve for ESM and for require(esm)', async () => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const hasEntry = Object.keys(get(name).one.manifest.exports ?? {}).some(
      (entry) => entry !== './package.json',
    );
    if (!hasEntry) return;
    const args = [attw, get(name).path, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji'];
    // `./addon` is CommonJS that is required; that its properties are no named exports of a module is known.
    const known = name === '@blockyard/native' ? ['--ignore-rules', 'named-exports'] : [];
    await run(process.execPath, [...args, ...known], scratch.path);
  });
});
