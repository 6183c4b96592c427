import { expect, test } from 'vitest';
import { checkPortable, resolveTarget } from '../src/portable.ts';
import { manifest, repository } from './repository.ts';

const core = (files: Record<string, string>, more: object = {}) =>
  checkPortable(repository({ 'packages/core/package.json': manifest('@blockyard/core', more), ...files }));

test('a node: import behind another module is found', () => {
  const problems = core({
    'packages/core/src/index.ts': "export * from './deep.ts';\n",
    'packages/core/src/deep.ts': "// why not\nexport { readFile } from 'node:fs';\n",
  });
  expect(problems).toEqual([
    'packages/core/src/deep.ts:2: imports node:fs on the main path of a portable package',
  ]);
});

test('the old names, import() and require() count too', () => {
  const problems = core({
    'packages/core/src/index.ts': "import 'fs';\nawait import('node:zlib');\nrequire('path');\n",
  });
  expect(problems).toEqual([
    expect.stringContaining('uses require'),
    expect.stringContaining('imports fs'),
    expect.stringContaining('imports node:zlib'),
    expect.stringContaining('imports path'),
  ]);
});

test('type imports are erased and may be', () => {
  expect(
    core({
      'packages/core/src/index.ts':
        "import type { Readable } from 'node:stream';\nexport type A = Readable;\n",
    }),
  ).toEqual([]);
});

test('what the condition node selects is not the main path', () => {
  const imports = {
    '#platform': {
      node: { '@blockyard/source': './src/node.ts', default: './dist/node.js' },
      default: { '@blockyard/source': './src/portable.ts', default: './dist/portable.js' },
    },
  };
  const files = {
    'packages/core/src/index.ts': "export * from '#platform';\n",
    'packages/core/src/node.ts': "export * from 'node:fs';\n",
    'packages/core/src/portable.ts': 'export {};\n',
  };
  expect(core(files, { imports })).toEqual([]);
  expect(
    core({ ...files, 'packages/core/src/portable.ts': "import 'node:os';\n" }, { imports }),
  ).toHaveLength(1);
});

test('an entry point for Node alone is left out, another one is not', () => {
  const exports = { '.': './src/index.ts', './node': './src/node.ts', './limits': './src/limits.ts' };
  const files = {
    'packages/core/src/index.ts': '',
    'packages/core/src/node.ts': "import 'node:stream';\n",
    'packages/core/src/limits.ts': "import 'node:os';\n",
  };
  expect(core(files, { exports })).toEqual([expect.stringMatching(/^packages\/core\/src\/limits\.ts:1/)]);
});

test('the walk goes into other packages of ours', () => {
  const problems = core({
    'packages/core/src/index.ts': "export * from '@blockyard/iov-utils';\n",
    'packages/iov-utils/package.json': JSON.stringify(manifest('@blockyard/iov-utils')),
    'packages/iov-utils/src/index.ts': "import 'node:buffer';\n",
  });
  expect(new Set(problems)).toEqual(
    new Set([
      'packages/iov-utils/src/index.ts:1: imports node:buffer on the main path of a portable package',
    ]),
  );
});

test('a global that only Node has is found, a member of that name is not', () => {
  const problems = core({
    'packages/core/src/index.ts':
      'const a = { process: 1 };\na.process;\nexport const b = Buffer.alloc(1);\nexport const c = globalThis.process;\n',
  });
  expect(problems).toEqual([
    'packages/core/src/index.ts:3: uses Buffer, which only Node has, on the main path of a portable package',
  ]);
});

test('conditions resolve in order', () => {
  expect(resolveTarget({ node: 'a', default: 'b' })).toBe('b');
  expect(resolveTarget({ node: { default: 'a' }, default: { types: 'd', default: 'b' } })).toBe('b');
  expect(resolveTarget({ node: 'a' })).toBeUndefined();
});
