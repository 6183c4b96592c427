import { readFile } from 'node:fs/promises';
import { BlockError, errorKinds, systemError } from '@blockyard/core';
import { expect, test } from 'vitest';

test('an error carries its code, kind and place', () => {
  const cause = new Error('below');
  const error = new BlockError('ERR_CORRUPT', 'text', { driver: 'qcow2', offset: 512, cause });
  expect(error).toMatchObject({
    name: 'BlockError',
    code: 'ERR_CORRUPT',
    kind: 'image',
    driver: 'qcow2',
    offset: 512,
    cause,
  });
  expect(new BlockError('ENOSPC', 'text').kind).toBe('system');
});

test('instanceof holds for an error of another copy of the package', () => {
  const foreign = Object.assign(new Error('other copy'), {
    [Symbol.for('@blockyard/core/BlockError')]: true,
  });
  expect(foreign instanceof BlockError).toBe(true);
  expect(new Error('plain') instanceof BlockError).toBe(false);
  expect((null as unknown) instanceof BlockError).toBe(false);
});

test('what the system says keeps its errno name and its cause', () => {
  const cause = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  expect(systemError(cause, 'write of 5 bytes', { op: 'write' })).toMatchObject({
    code: 'ENOSPC',
    kind: 'system',
    op: 'write',
    cause,
  });
  expect(systemError(new Error('odd'), 'read')).toMatchObject({ code: 'EIO' });
  const ours = new BlockError('ERR_CORRUPT', 'text');
  expect(systemError(ours, 'read')).toBe(ours);
});

test('every code has its heading in the documentation', async () => {
  const text = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  for (const code of Object.keys(errorKinds)) expect(text).toMatch(new RegExp(`^#+ .*\\b${code}\\b`, 'm'));
});
