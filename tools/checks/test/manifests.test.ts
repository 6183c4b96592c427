import { expect, test } from 'vitest';
import { checkManifests, withoutSource } from '../src/manifests.ts';
import { manifest, repository } from './repository.ts';

const complete = {
  description: 'Scatter/gather vectors',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.19' },
  files: ['dist'],
  publishConfig: { access: 'public', exports: { '.': './dist/index.js' } },
};
const readme = { 'packages/iov-utils/README.md': '# iov-utils\n' };
const check = (more: object) =>
  checkManifests(
    repository({
      'packages/iov-utils/package.json': manifest('@blockyard/iov-utils', { ...complete, ...more }),
      ...readme,
    }),
  );

test('a complete manifest is quiet', () => {
  expect(check({})).toEqual([]);
});

test.each([
  [{ license: 'MIT' }, 'license'],
  [{ sideEffects: true }, 'sideEffects'],
  [{ files: ['src'] }, 'files'],
  [{ publishConfig: { access: 'public' } }, 'publishConfig.exports'],
  [{ dependencies: { left: '^1.0.0' } }, "left is ^1.0.0; versions are 'catalog:' or 'workspace:^'"],
])('%j is found', (more, text) => {
  expect(check(more)).toEqual([expect.stringContaining(text)]);
});

test('the source condition goes, wherever it stands', () => {
  expect(
    withoutSource({
      '#a': { '@blockyard/source': { node: 'a.ts', default: 'b.ts' }, node: 'a.js', default: 'b.js' },
      '#b': { node: { '@blockyard/source': 'a.ts', default: 'a.js' }, default: 'b.js' },
    }),
  ).toEqual({ '#a': { node: 'a.js', default: 'b.js' }, '#b': { node: 'a.js', default: 'b.js' } });
});
