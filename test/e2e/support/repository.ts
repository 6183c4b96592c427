import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Package, runtimeDependencies, workspacePackages } from '../../../tools/checks/src/workspace.ts';

export const root = resolve(import.meta.dirname, '../../..');

export const published: readonly Package[] = workspacePackages(root).filter(
  ({ manifest }) => !manifest.private,
);

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'blockyard-e2e-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** What of ours comes along when these packages are installed. */
export function closure(names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const one = published.find((candidate) => candidate.name === name);
    if (!one || found.has(name)) return;
    found.add(name);
    const { peerDependenciesMeta = {} } = one.manifest;
    for (const next of runtimeDependencies(one)) if (!peerDependenciesMeta[next]?.optional) add(next);
  };
  for (const name of names) add(name);
  return [...found].sort();
}

interface DemoImage {
  name: string;
  tags: string[];
  content: { value: string };
}

/** The image with the tag demo: a file beside its backing file, and the sha256 of what a guest reads. */
export function demoImage(): { path: string; name: string; sha256: string } {
  const images = join(root, 'test-images');
  const manifest = JSON.parse(readFileSync(join(images, 'manifest.json'), 'utf8')) as { images: DemoImage[] };
  const demo = manifest.images.find(({ tags }) => tags.includes('demo'));
  if (!demo) throw new Error('test-images/manifest.json has no image with the tag demo');
  return { path: join(images, demo.name), name: demo.name, sha256: demo.content.value };
}
