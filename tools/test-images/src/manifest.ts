import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** test-images/ of the repository, seen from src/ as well as from dist/. */
export const imagesDirectory = join(import.meta.dirname, '../../../test-images');

/**
 * `sha256`: of all guest-visible bytes. `sha256-nonzero`: for disks over 64 MiB, of the bytes that say something: see
 * digest.ts. Both depend on nothing but what a guest reads.
 */
export interface Digest {
  algorithm: 'sha256' | 'sha256-nonzero';
  value: string;
}

/** One line of `qemu-img map --output=json`. */
export interface MappedExtent {
  start: number;
  length: number;
  depth: number;
  present: boolean;
  zero: boolean;
  data: boolean;
  offset?: number;
}

export interface StoredFile {
  /** As the image, or what names it, spells it. */
  name: string;
  bytes: number;
  sha256: string;
  /** Kept as `<name>.gz`. */
  gzip?: true;
}

export interface SnapshotEntry {
  id: string;
  name: string;
  /** Bytes of the disk when it was taken. */
  size: number;
  content: Digest;
}

export interface ImageEntry {
  /** The file to open. */
  name: string;
  /** What it is there for. */
  about: string;
  /** Free words to choose images by. */
  tags: string[];
  format: 'raw' | 'qcow2';
  virtualSize: number;
  passphrase?: string;
  content: Digest;
  /** Of the files stored without holes, as they come out of git. */
  map: MappedExtent[];
  snapshots?: SnapshotEntry[];
  /** What `qemu-img info --output=json` says, without what depends on the machine. */
  info: Record<string, unknown>;
  /** The image itself first, then its backing and data files. */
  files: StoredFile[];
  /** The commands that made it. */
  made: string[];
}

export interface Manifest {
  /** The tool that made them. */
  tool: string;
  images: ImageEntry[];
}

let manifest: Manifest | undefined;

export function readManifest(): Manifest {
  manifest ??= JSON.parse(readFileSync(join(imagesDirectory, 'manifest.json'), 'utf8')) as Manifest;
  return manifest;
}

/** The images that have all of `tags`; every image without any. */
export function images(...tags: string[]): ImageEntry[] {
  return readManifest().images.filter((image) => tags.every((tag) => image.tags.includes(tag)));
}

/** @throws Error when there is no such image. */
export function image(name: string): ImageEntry {
  const found = readManifest().images.find((entry) => entry.name === name);
  if (!found) throw new Error(`test-images has no ${name}`);
  return found;
}
