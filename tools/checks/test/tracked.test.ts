import { expect, test } from 'vitest';
import { checkMachinePaths } from '../src/tracked.ts';
import { repository } from './repository.ts';

const home = ['', 'home', 'ada', 'blockyard'].join('/');

test('relative paths, URLs and system folders are fine', () => {
  const root = repository({
    'a.md': 'See docs/home/page.md, https://example.org/home/x, /dev/sda, /tmp/x and /sys/block.\n',
  });
  expect(checkMachinePaths(root, [])).toEqual([]);
});

test('a path of somebody is found with its line', () => {
  const root = repository({ 'a.ts': `\nconst a = '${home}/a';\n` });
  expect(checkMachinePaths(root, [])).toEqual([expect.stringMatching(/^a\.ts:2: /)]);
});

test('the folder of the repository itself is found anywhere, in binary files too', () => {
  const root = repository({ 'a.bin': '\0x/some/where/else\0', 'b.txt': 'prefix=/some/where\n' });
  expect(checkMachinePaths(root, ['/some/where'])).toEqual([
    'a.bin: contains the path /some/where',
    expect.stringMatching(/^b\.txt:1: /),
  ]);
});

test('the address of a registry is found', () => {
  const root = repository({
    'lock.yaml': `tarball: https://${['registry', 'npmjs', 'org'].join('.')}/a.tgz\n`,
  });
  expect(checkMachinePaths(root, [])).toEqual([expect.stringMatching(/^lock\.yaml:1: /)]);
});
