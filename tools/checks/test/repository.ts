import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A repository of the given files in a temporary folder; objects are written as JSON. */
export function repository(files: Record<string, string | object>): string {
  const root = mkdtempSync(join(tmpdir(), 'checks-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const all = {
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n  - native\n  - tools/*\n\ncatalog: {}\n',
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  return root;
}

/** A manifest whose entry point is src/index.ts. */
export const manifest = (name: string, more: object = {}) => ({
  name,
  exports: { '.': { '@blockyard/source': './src/index.ts', default: './dist/index.js' } },
  ...more,
});
