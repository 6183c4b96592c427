import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Package, type Target, workspacePackages } from './workspace.ts';

/** Every published package says the same things about itself, and pins nothing by hand: what it bears with is a peer's range. */
export function checkManifests(root: string): string[] {
  return workspacePackages(root).flatMap((one) => {
    const problems = [...versions(one), ...(one.manifest.private ? [] : published(root, one))];
    return problems.map((text) => `${one.directory}/package.json: ${text}`);
  });
}

function versions({ manifest }: Package): string[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  return Object.entries(all)
    .filter(([, version]) => version !== 'catalog:' && version !== 'workspace:^')
    .map(([name, version]) => `${name} is ${version}; versions are 'catalog:' or 'workspace:^'`);
}

function published(root: string, { directory, manifest }: Package): string[] {
  const { exports, imports, publishConfig } = manifest;
  const rules: [boolean, string][] = [
    [manifest.license === 'Apache-2.0', 'license is Apache-2.0'],
    [manifest.type === 'module', 'type is module'],
    [manifest.sideEffects === false, 'sideEffects is false'],
    [manifest.engines?.node === '>=20.19', 'engines.node is >=20.19'],
    [!!manifest.description, 'there is a description'],
    [!!manifest.files?.includes('dist'), 'files lists dist'],
    [publishConfig?.access === 'public', 'publishConfig.access is public'],
    [existsSync(join(root, directory, 'README.md')), 'there is a README.md'],
    [
      isDeepStrictEqual(publishConfig?.exports ?? exports, withoutSource(exports)),
      'publishConfig.exports is exports without the source condition',
    ],
    [
      isDeepStrictEqual(publishConfig?.imports ?? imports, withoutSource(imports)),
      'publishConfig.imports is imports without the source condition',
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, rule]) => `must hold: ${rule}`);
}

/** The same targets as a published package has them. */
export function withoutSource<T extends Record<string, Target> | undefined>(targets: T): T {
  const strip = (target: Target): Target | undefined => {
    if (typeof target === 'string') return target;
    const kept = Object.entries(target).flatMap(([condition, next]) => {
      const stripped = condition === '@blockyard/source' ? undefined : strip(next);
      return stripped === undefined ? [] : [[condition, stripped] as const];
    });
    const only = kept.length === 1 && kept[0]?.[0] === 'default' ? kept[0][1] : undefined;
    return only ?? Object.fromEntries(kept);
  };
  return (
    targets &&
    (Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, strip(target)])) as T)
  );
}
