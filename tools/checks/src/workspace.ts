import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Names = Record<string, string>;
/** A target of `exports` or `imports`: a path, or conditions in the order in which they are tried. */
export type Target = string | { [condition: string]: Target };

export interface Manifest {
  name: string;
  private?: boolean;
  description?: string;
  license?: string;
  type?: string;
  sideEffects?: boolean;
  engines?: Names;
  files?: string[];
  bin?: Names;
  exports?: Record<string, Target>;
  imports?: Record<string, Target>;
  publishConfig?: { access?: string; exports?: Record<string, Target>; imports?: Record<string, Target> };
  dependencies?: Names;
  peerDependencies?: Names;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  optionalDependencies?: Names;
  devDependencies?: Names;
}

export interface Package {
  name: string;
  /** Relative to the root of the repository. */
  directory: string;
  manifest: Manifest;
}

/** The folders that pnpm-workspace.yaml lists, read as this repository writes them: `name` or `name/*`. */
export function workspacePackages(root: string): Package[] {
  const yaml = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  const list = /^packages:\n((?: +- .*\n?)+)/m.exec(yaml)?.[1] ?? '';
  const patterns = list.split('\n').flatMap((line) => /- ['"]?([^'"\s]+)/.exec(line)?.[1] ?? []);
  const directories = patterns.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    if (!existsSync(join(root, parent))) return [];
    return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
  return directories
    .filter((directory) => existsSync(join(root, directory, 'package.json')))
    .map((directory) => {
      const manifest = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Manifest;
      return { name: manifest.name, directory, manifest };
    });
}

/** What a program that installs the package gets with it. */
export const runtimeDependencies = ({ manifest }: Package): string[] =>
  Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies });

/** Every TypeScript or JavaScript source file under a folder, relative to the root. */
export function sourceFiles(root: string, directory: string): string[] {
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourceFiles(root, path);
    return /\.[cm]?[jt]s$/.test(entry.name) ? [path] : [];
  });
}
