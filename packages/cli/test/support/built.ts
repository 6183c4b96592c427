import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const cli = join(import.meta.dirname, '../..');
const packages = join(cli, '..');
const lock = join(cli, 'node_modules/.build-lock');
const bundled = ['cli', 'core', 'image-ops', 'iov-utils', 'qcow2', 'raw-posix', 'zero-detect', '../native'];
const longestBuildMs = 60_000;

const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isStale(): boolean {
  const built = changed(join(cli, 'dist/main.cjs'));
  return bundled.some((name) => {
    const sources = join(packages, name, 'src');
    return readdirSync(sources, { recursive: true }).some(
      (file) => changed(join(sources, String(file))) > built,
    );
  });
}

/** Bundles the command where that is older than what is in it. Safe for test files that run side by side. */
export async function ensureBuilt(): Promise<void> {
  while (isStale()) {
    try {
      mkdirSync(lock);
    } catch {
      if (Date.now() - changed(lock) > longestBuildMs) rmSync(lock, { recursive: true, force: true });
      await sleep(100);
      continue;
    }
    try {
      const run = spawnSync(process.execPath, [join(cli, '../../node_modules/tsup/dist/cli-default.js')], {
        cwd: cli,
        encoding: 'utf8',
      });
      if (run.status !== 0) throw new Error(`tsup failed:\n${run.stdout}${run.stderr}`);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}
