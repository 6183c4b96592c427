import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from '../../../tools/checks/src/workspace.ts';
import { published, root } from './repository.ts';
import { run } from './run.ts';

export interface Packed {
  one: Package;
  /** The tarball. */
  path: string;
  /** What is in it, unpacked. */
  folder: string;
  files: { path: string; bytes: number }[];
}

/** Packs every published package as `pnpm publish` would, and unpacks it to look inside. */
export async function packAll(into: string): Promise<Map<string, Packed>> {
  const packed = new Map<string, Packed>();
  for (const one of published) {
    const path = join(into, `${one.name.replace(/^@/, '').replace('/', '-')}.tgz`);
    const folder = join(into, 'unpacked', one.name);
    await mkdir(folder, { recursive: true });
    await run('pnpm', ['pack', '--out', path], join(root, one.directory));
    await run('tar', ['xzf', path, '-C', folder, '--strip-components=1'], into);
    packed.set(one.name, { one, path, folder, files: filesIn(folder) });
  }
  return packed;
}

function filesIn(folder: string, below = ''): Packed['files'] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below ? `${below}/${entry.name}` : entry.name;
    return entry.isDirectory() ? filesIn(folder, path) : [{ path, bytes: statSync(join(folder, path)).size }];
  });
}

export const contentOf = (packed: Packed, file: string): Buffer => readFileSync(join(packed.folder, file));
