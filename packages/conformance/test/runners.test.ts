import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** node:test in a process of its own, its results in TAP. */
async function nodeTest(flaw: string): Promise<string> {
  const args = [
    '--conditions=@blockyard/source',
    '--import=tsx',
    '--test-reporter=tap',
    join(import.meta.dirname, 'support/node-test.ts'),
  ];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, FLAW: flaw };
  const { stdout } = await run(process.execPath, args, {
    env: env as NodeJS.ProcessEnv,
    maxBuffer: 1 << 24,
  }).catch((error) => error as { stdout: string });
  return stdout;
}

test('node:test runs the suite, with skips, and fails with it', { timeout: 60_000 }, async () => {
  const right = await nodeTest('');
  expect(right).toMatch(/ok \d+ - read\/whole: one read of the whole disk/);
  expect(right).toMatch(/# SKIP/);
  expect(right).toMatch(/^# fail 0$/m);
  const wrong = await nodeTest('yes');
  expect(wrong).toMatch(/not ok \d+ - read\/whole/);
  expect(wrong).not.toMatch(/^# fail 0$/m);
});
