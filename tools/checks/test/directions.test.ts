import { expect, test } from 'vitest';
import { checkDirections } from '../src/directions.ts';
import { manifest, repository } from './repository.ts';

const workspace = 'workspace:^';

test('a package may have what is below it', () => {
  const root = repository({
    'packages/iov-utils/package.json': manifest('@blockyard/iov-utils'),
    'packages/core/package.json': manifest('@blockyard/core', {
      dependencies: { '@blockyard/iov-utils': workspace },
    }),
    'packages/core/src/index.ts': "import { slice } from '@blockyard/iov-utils';\nexport { slice };\n",
  });
  expect(checkDirections(root)).toEqual([]);
});

test('a dependency in the other direction is found', () => {
  const root = repository({
    'packages/core/package.json': manifest('@blockyard/core', {
      dependencies: { '@blockyard/qcow2': workspace },
    }),
    'packages/qcow2/package.json': manifest('@blockyard/qcow2'),
  });
  expect(checkDirections(root)).toEqual([
    'packages/core/package.json: @blockyard/core must not depend on @blockyard/qcow2; it may have @blockyard/iov-utils, @blockyard/zero-detect',
  ]);
});

test('a driver that nobody listed may not have another driver', () => {
  const root = repository({
    'packages/vhdx/package.json': manifest('@blockyard/vhdx', {
      dependencies: { '@blockyard/qcow2': workspace },
    }),
    'packages/qcow2/package.json': manifest('@blockyard/qcow2'),
  });
  expect(checkDirections(root)).toEqual([
    expect.stringContaining('@blockyard/vhdx must not depend on @blockyard/qcow2'),
  ]);
});

test('src/ may not import what only tests have', () => {
  const files = {
    'packages/qcow2/package.json': manifest('@blockyard/qcow2', {
      devDependencies: { '@blockyard/raw-posix': workspace },
    }),
    'packages/raw-posix/package.json': manifest('@blockyard/raw-posix'),
    'packages/qcow2/test/open.test.ts': "import { rawPosix } from '@blockyard/raw-posix';\nrawPosix();\n",
  };
  expect(checkDirections(repository(files))).toEqual([]);
  const source = { 'packages/qcow2/src/index.ts': "\nexport type { A } from '@blockyard/raw-posix';\n" };
  expect(checkDirections(repository({ ...files, ...source }))).toEqual([
    'packages/qcow2/src/index.ts:2: imports @blockyard/raw-posix, which is not in the dependencies of @blockyard/qcow2',
  ]);
});

test('a relative import of another package is found', () => {
  const root = repository({
    'packages/core/package.json': manifest('@blockyard/core'),
    'packages/core/src/index.ts': "export * from '../../iov-utils/src/index.ts';\n",
  });
  expect(checkDirections(root)).toEqual([expect.stringContaining('reaches into another package')]);
});

test('development dependencies must not close a cycle', () => {
  const root = repository({
    'packages/core/package.json': manifest('@blockyard/core', {
      devDependencies: { '@blockyard/conformance': workspace },
    }),
    'packages/conformance/package.json': manifest('@blockyard/conformance', {
      dependencies: { '@blockyard/core': workspace },
    }),
  });
  expect(checkDirections(root)).toEqual([
    expect.stringMatching(/^cycle .*: (@blockyard\/\w+) -> @blockyard\/\w+ -> \1$/),
  ]);
});

test('native may speed a portable package up as an optional peer, and not as more', () => {
  const check = (more: object) =>
    checkDirections(
      repository({
        'packages/zero-detect/package.json': manifest('@blockyard/zero-detect', more),
        'native/package.json': manifest('@blockyard/native'),
      }),
    );
  const peer = { peerDependencies: { '@blockyard/native': workspace } };
  expect(check({ ...peer, peerDependenciesMeta: { '@blockyard/native': { optional: true } } })).toEqual([]);
  expect(check(peer)).toHaveLength(1);
  expect(check({ dependencies: { '@blockyard/native': workspace } })).toHaveLength(1);
});
