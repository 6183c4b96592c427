import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');

/** Builds a package and what it needs, quietly; turbo answers from its cache when nothing changed. */
export function ensureBuilt(...packages: string[]): void {
  if (!existsSync(resolve(root, 'packages/core/dist')))
    console.error('Building (the first time takes a minute) ...');
  // With what they depend on: the addon is a task of one of those.
  const filters = packages.map((name) => `--filter=${name}...`);
  const turbo = resolve(root, 'node_modules/turbo/bin/turbo');
  const run = spawnSync(turbo, ['run', 'build', 'addon', '--output-logs=errors-only', ...filters], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (run.status === 0) return;
  process.stderr.write(run.error ? `${run.error.message}\n` : run.stdout + run.stderr);
  process.exit(run.status ?? 1);
}
