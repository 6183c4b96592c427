import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { globalsOf, importsOf } from './imports.ts';
import { type Package, type Target, workspacePackages } from './workspace.ts';

/** Packages that also run in a browser or a web worker, with the entry points that are for Node alone. */
const portable: Record<string, readonly string[]> = {
  '@blockyard/core': ['./node'],
  '@blockyard/iov-utils': [],
  '@blockyard/zero-detect': [],
  '@blockyard/nbd-protocol': [],
  '@blockyard/qcow2': [],
  '@blockyard/image-ops': [],
};

/** What a browser's bundler matches, reading sources rather than dist/. */
const conditions = new Set(['@blockyard/source', 'import', 'default']);
const builtins = new Set(builtinModules);
const nodeGlobals = new Set([
  'Buffer',
  'process',
  'global',
  'require',
  '__dirname',
  '__filename',
  'setImmediate',
]);

/** No module that loads by default imports one of Node's, or uses a global that only Node has. */
export function checkPortable(root: string): string[] {
  const packages = new Map(workspacePackages(root).map((one) => [one.name, one]));
  const problems = Object.entries(portable).flatMap(([name, nodeOnly]) => {
    const one = packages.get(name);
    if (!one) return [];
    const entries = Object.entries(one.manifest.exports ?? {})
      .filter(([entry]) => entry !== './package.json' && !nodeOnly.includes(entry))
      .flatMap(([, target]) => resolveTarget(target) ?? []);
    if (entries.length === 0)
      return [`${one.directory}/package.json: no entry point resolves without the condition node`];
    return walk(
      root,
      packages,
      entries.map((path) => join(one.directory, path)),
    );
  });
  // What two packages load is one problem.
  return [...new Set(problems)];
}

/** The first target whose conditions all match. */
export function resolveTarget(target: Target | undefined): string | undefined {
  if (target === undefined || typeof target === 'string') return target;
  for (const [condition, next] of Object.entries(target)) {
    const found = conditions.has(condition) ? resolveTarget(next) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function walk(root: string, packages: ReadonlyMap<string, Package>, entries: readonly string[]): string[] {
  const problems: string[] = [];
  const queue = [...entries];
  const seen = new Set(queue);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (!existsSync(join(root, path))) continue;
    const text = readFileSync(join(root, path), 'utf8');
    for (const { name, line } of globalsOf(path, text, nodeGlobals)) {
      problems.push(
        `${path}:${line}: uses ${name}, which only Node has, on the main path of a portable package`,
      );
    }
    for (const { specifier, typeOnly, line } of importsOf(path, text)) {
      if (typeOnly) continue;
      if (specifier.startsWith('node:') || builtins.has(specifier)) {
        problems.push(`${path}:${line}: imports ${specifier} on the main path of a portable package`);
      }
      const next = follow(packages, path, specifier);
      if (next !== undefined && !seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  return problems;
}

/** The source file that a specifier stands for, when it is one of ours. */
function follow(packages: ReadonlyMap<string, Package>, from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(from, '..', specifier);
  if (specifier.startsWith('#')) {
    const own = [...packages.values()].find(({ directory }) => from.startsWith(`${directory}/`));
    const target = resolveTarget(own?.manifest.imports?.[specifier]);
    return own && target ? join(own.directory, target) : undefined;
  }
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  const other = packages.get(name ?? '');
  const target = resolveTarget(other?.manifest.exports?.[`.${rest}`]);
  return other && target ? join(other.directory, target) : undefined;
}
