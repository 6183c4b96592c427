import { expect, test } from 'vitest';
import { checkDocs } from '../src/docs.ts';
import { manifest, repository } from './repository.ts';

const check = (files: Record<string, string>) =>
  checkDocs(
    repository({
      'packages/core/src/errors.ts': "export const errorKinds = {\n  ERR_CORRUPT: 'image',\n} as const;\n",
      'packages/core/package.json': manifest('@blockyard/core'),
      'packages/core/README.md': '# core\n\n```ts\nrun();\n```\n',
      'docs/errors.md': '# Errors\n\n## ERR_CORRUPT\n',
      ...files,
    }),
  );

test('documents that keep up are quiet', () => {
  expect(check({})).toEqual([]);
});

test('a code without a heading and a heading without a code are found', () => {
  expect(check({ 'docs/errors.md': '# Errors\n\n## ERR_GONE\n' })).toEqual([
    'docs/errors.md: no heading for ERR_CORRUPT',
    'docs/errors.md: ERR_GONE is no code of core',
  ]);
});

test('a README without an example is found', () => {
  expect(check({ 'packages/core/README.md': '# core\n' })).toEqual([
    expect.stringContaining('no example to run'),
  ]);
});

test('links to missing files and headings are found, code is not read', () => {
  const page = '[a](errors.md) [b](errors.md#err_corrupt) [c](gone.md) [d](errors.md#none) `[e](no.md)`\n';
  expect(check({ 'docs/page.md': page })).toEqual([
    'docs/page.md: the link gone.md leads nowhere',
    'docs/page.md: docs/errors.md has no heading #none',
  ]);
});
