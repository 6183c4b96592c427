import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ImageEntry, imagesDirectory, type StoredFile } from './manifest.ts';

export function readStored(file: StoredFile): Uint8Array {
  const stored = readFileSync(join(imagesDirectory, file.gzip ? `${file.name}.gz` : file.name));
  return file.gzip ? gunzipSync(stored) : stored;
}

/**
 * Puts the image and all files that belong to it into `directory`, and returns the path of the image. Tests work on
 * such a copy: an image opened for writing is changed even where nothing is written. Files are written without holes,
 * since the recorded extents are those of files without holes.
 */
export function unpack(image: ImageEntry, directory: string): string {
  mkdirSync(directory, { recursive: true });
  for (const file of image.files) writeFileSync(join(directory, file.name), readStored(file));
  return join(directory, image.name);
}
