import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from './imports.ts';
import { type Package, runtimeDependencies, sourceFiles, workspacePackages } from './workspace.ts';

/**
 * What of ours each package may depend on, as docs/architecture.md says. A package that is not here is a driver
 * or filter, and may have what every driver may have.
 */
const leaves = ['@blockyard/iov-utils', '@blockyard/zero-detect'];
const driver = ['@blockyard/core', ...leaves];
const anything = 'anything';
const allowed: Record<string, readonly string[] | typeof anything> = {
  '@blockyard/iov-utils': [],
  '@blockyard/zero-detect': [],
  '@blockyard/native': [],
  '@blockyard/nbd-protocol': [],
  '@blockyard/core': leaves,
  '@blockyard/raw-posix': [...driver, '@blockyard/native'],
  '@blockyard/nbd-client': [...driver, '@blockyard/nbd-protocol'],
  '@blockyard/nbd-server': [...driver, '@blockyard/nbd-protocol'],
  '@blockyard/image-ops': driver,
  '@blockyard/conformance': driver,
  blockyard: anything,
  'blockyard-vscode': anything,
};

/** Their build puts what they import into one file: a development dependency, when nothing else needs it installed. */
const bundled = ['blockyard', 'blockyard-vscode'];

/** Faster with native where a program has it, and complete without: they may have it as an optional peer. */
const accelerated = ['@blockyard/zero-detect', '@blockyard/qcow2'];

const isAcceleration = ({ manifest }: Package, name: string): boolean =>
  name === '@blockyard/native' &&
  accelerated.includes(manifest.name) &&
  manifest.dependencies?.[name] === undefined &&
  manifest.peerDependenciesMeta?.[name]?.optional === true;

/** Only what tools and programs at the top are may take anything: nobody depends on them. */
const allowedFor = ({ name, directory }: Package) =>
  directory.startsWith('tools/') ? anything : (allowed[name] ?? driver);

/**
 * Manifests and the imports in src/ follow the direction; what src/ imports is a dependency, not a development one.
 * Tests and benchmarks may use any package of ours as a development dependency, as long as no cycle comes of it:
 * builds could not be ordered.
 */
export function checkDirections(root: string): string[] {
  const packages = workspacePackages(root);
  const ours = new Set(packages.map(({ name }) => name));
  return [
    ...packages.flatMap((one) => [...manifestProblems(one, ours), ...importProblems(root, one, ours)]),
    ...cycles(packages, ours),
  ];
}

function manifestProblems(one: Package, ours: ReadonlySet<string>): string[] {
  const may = allowedFor(one);
  if (may === anything) return [];
  const where = `${one.directory}/package.json`;
  return runtimeDependencies(one)
    .filter((name) => ours.has(name) && !may.includes(name) && !isAcceleration(one, name))
    .map(
      (name) =>
        `${where}: ${one.name} must not depend on ${name}; it may have ${may.join(', ') || 'nothing of ours'}`,
    );
}

function importProblems(root: string, one: Package, ours: ReadonlySet<string>): string[] {
  const runtime = new Set(runtimeDependencies(one));
  const forTests = new Set([...runtime, ...Object.keys(one.manifest.devDependencies ?? {})]);
  const check = (folder: string, listed: ReadonlySet<string>, as: string) =>
    sourceFiles(root, `${one.directory}/${folder}`).flatMap((path) =>
      importsOf(path, readFileSync(join(root, path), 'utf8')).flatMap(({ specifier, line }) => {
        const name = packageName(specifier);
        if (name !== undefined && ours.has(name) && name !== one.name && !listed.has(name)) {
          return [`${path}:${line}: imports ${name}, which is not in the ${as} of ${one.name}`];
        }
        return leavesPackage(one.directory, path, specifier)
          ? [`${path}:${line}: '${specifier}' reaches into another package; import it by name`]
          : [];
      }),
    );
  return [
    ...(bundled.includes(one.name)
      ? check('src', forTests, 'dependencies or devDependencies')
      : check('src', runtime, 'dependencies')),
    ...check('test', forTests, 'dependencies or devDependencies'),
    ...check('bench', forTests, 'dependencies or devDependencies'),
  ];
}

const packageName = (specifier: string): string | undefined =>
  /^(?:@[^/]+\/)?[^./#@:][^/:]*(?=\/|$)/.exec(specifier)?.[0];

function leavesPackage(directory: string, path: string, specifier: string): boolean {
  if (!specifier.startsWith('..')) return false;
  const target = join(path, '..', specifier);
  return !target.startsWith(`${directory}/`) && /^(?:packages|native|tools)\//.test(target);
}

function cycles(packages: readonly Package[], ours: ReadonlySet<string>): string[] {
  const edges = new Map(
    packages.map((one) => {
      const names = [...runtimeDependencies(one), ...Object.keys(one.manifest.devDependencies ?? {})];
      return [one.name, names.filter((name) => ours.has(name))];
    }),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (name: string, above: readonly string[]): void => {
    const at = above.indexOf(name);
    if (at >= 0) {
      found.push(
        `cycle of dependencies (development ones count): ${[...above.slice(at), name].join(' -> ')}`,
      );
      return;
    }
    if (done.has(name)) return;
    for (const next of edges.get(name) ?? []) walk(next, [...above, name]);
    done.add(name);
  };
  for (const { name } of packages) walk(name, []);
  return found;
}
