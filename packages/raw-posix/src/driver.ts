import { unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { BlockDriver, BlockNode } from '@blockyard/core';
import { createFile } from './create-file.ts';
import { FileNode } from './file-node.ts';
import type { Host } from './host.ts';
import { locate } from './locate.ts';
import { filenameOf } from './name.ts';
import { openFile } from './open-file.ts';
import { type FileOptions, fileOptions } from './options.ts';
import { type HostChoice, selectHost } from './select-host.ts';

export interface RawPosixSettings {
  /** `auto` takes the native addon where it loads, else node:fs with one line of notice. */
  host?: HostChoice;
}

/** Relative names start where the user's own name of the image is, as in QEMU, not where a link leads. */
const baseOf = (node: BlockNode): string | undefined =>
  node instanceof FileNode ? dirname(node.absolute) : node.location.directory;

const beside = (name: string, image: string): string =>
  isAbsolute(name) ? name : join(dirname(resolve(image)), name);

/** The driver over a given host; for tests with faults. */
export function driverOver(host: () => Host): BlockDriver<FileOptions> {
  return {
    name: 'file',
    kind: 'protocol',
    help: 'a file, block device or SCSI generic device of this machine',
    options: fileOptions,
    schemes: ['file'],
    open: (options, context) => openFile(host(), options, context),
    parseName: (name) => ({ driver: 'file', filename: filenameOf(name) }),
    locate: (name, from) => locate(name, from, baseOf),
    sibling: (name, of) => ({ driver: 'file', filename: beside(filenameOf(name), of.filename) }),
    createFile: (options, creation) => createFile(host(), options, creation),
    removeFile: ({ filename }) => unlink(filename),
  };
}

/** Files, block devices and SCSI generic devices. */
export function rawPosix(settings: RawPosixSettings = {}): BlockDriver<FileOptions> {
  return driverOver(() => selectHost(settings.host ?? 'auto'));
}
