import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Opening, otherFiles, readDigest, readInfo, readMap, readSnapshots } from './describe.ts';
import { Kit } from './kit.ts';
import { type ImageEntry, imagesDirectory, type Manifest } from './manifest.ts';
import { makeDense, pack } from './pack.ts';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes/index.ts';

function opening({ name, passphrase }: Recipe, format: string): Opening {
  if (passphrase === undefined) return ['-f', format, name];
  const options = `driver=qcow2,file.driver=file,file.filename=${name},encrypt.key-secret=key`;
  return ['--object', `secret,id=key,data=${passphrase}`, '--image-opts', options];
}

async function make(recipe: Recipe, work: string): Promise<ImageEntry> {
  const { name, about, tags, passphrase } = recipe;
  const directory = join(work, name);
  mkdirSync(directory);
  const kit = new Kit(directory);
  recipe.make(kit);
  const names = [name, ...(recipe.with ?? [])];
  for (const other of otherFiles(directory, names)) rmSync(join(directory, other), { recursive: true });
  for (const file of names) makeDense(directory, file);
  const format = name.endsWith('.raw') ? 'raw' : 'qcow2';
  const open = opening(recipe, format);
  const info = readInfo(directory, name, format);
  // qemu-img speaks of whole sectors.
  const virtualSize = format === 'raw' ? kit.read(name).length : info['virtual-size'];
  const map = readMap(directory, open, virtualSize);
  const snapshots = await readSnapshots(directory, name, info);
  return {
    name,
    about,
    tags,
    format,
    virtualSize,
    ...(passphrase === undefined ? {} : { passphrase }),
    content: await readDigest(directory, open, map, virtualSize),
    map,
    ...(snapshots.length > 0 ? { snapshots } : {}),
    info,
    files: names.map((file) => pack(directory, file, imagesDirectory, tags.includes('demo'))),
    made: kit.made,
  };
}

/** One line per extent, so that a change shows as one. */
const format = (manifest: Manifest): string =>
  JSON.stringify(manifest, null, 2).replace(/\{[^{}[\]]*\}/g, (object) => object.replace(/\s*\n\s*/g, ' '));

const work = mkdtempSync(join(tmpdir(), 'blockyard-images-'));
try {
  mkdirSync(imagesDirectory, { recursive: true });
  for (const name of readdirSync(imagesDirectory))
    if (name !== 'README.md') rmSync(join(imagesDirectory, name));
  const images: ImageEntry[] = [];
  for (const recipe of recipes) images.push(await make(recipe, work));
  const version = execFileSync('qemu-img', ['--version'], { encoding: 'utf8' }).match(
    /version \d+\.\d+/,
  )?.[0];
  writeFileSync(
    join(imagesDirectory, 'manifest.json'),
    `${format({ tool: `qemu-img ${version}`, images })}\n`,
  );
  console.log(`${images.length} images in test-images/`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
