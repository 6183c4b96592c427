export { type Content, digest, wholeUpTo } from './digest.ts';
export {
  type Digest,
  type ImageEntry,
  image,
  images,
  imagesDirectory,
  type Manifest,
  type MappedExtent,
  readManifest,
  type SnapshotEntry,
  type StoredFile,
} from './manifest.ts';
export { readStored, unpack } from './unpack.ts';
