import fs from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BlockNode, OpenContext } from '@blockyard/core';
import { FileNode } from './file-node.ts';
import type { Host, HostFile } from './host.ts';
import { locationOf } from './locate.ts';
import { takeLocks } from './locks.ts';
import { notice } from './notice.ts';
import { openError, openRefusal } from './open-errors.ts';
import type { FileOptions } from './options.ts';
import { ScsiGenericNode } from './scsi-generic.ts';

/** Opens what the options name. */
export async function openFile(host: Host, options: FileOptions, context: OpenContext): Promise<BlockNode> {
  const { filename, aio = 'auto' } = options;
  const { readOnly, cache } = context.common;
  await checkKind(filename, readOnly, cache.direct);
  checkOptions(host, options, readOnly, cache.direct);
  const direct = cache.direct && canBeDirect(host, filename);
  const flags =
    (readOnly ? fs.constants.O_RDONLY : fs.constants.O_RDWR) | (direct ? fs.constants.O_DIRECT : 0);
  let file: HostFile;
  try {
    file = await host.open(filename, flags, { aio, direct });
  } catch (error) {
    throw openError(error, filename, readOnly, direct);
  }
  try {
    return await nodeOf(host, file, direct, options, context);
  } catch (error) {
    await file.close().catch(() => {});
    throw openError(error, filename, readOnly, direct);
  }
}

async function nodeOf(
  host: Host,
  file: HostFile,
  direct: boolean,
  options: FileOptions,
  context: OpenContext,
): Promise<BlockNode> {
  const { filename, locking = 'auto', forceShare = false, offset = 0, size } = options;
  const { readOnly } = context.common;
  const absolute = resolve(filename);
  const status = await file.status();
  const { kind } = status;
  if (kind === 'character') return await ScsiGenericNode.open(file, filename, context);
  if (kind === 'other')
    throw openRefusal('ERR_NOT_SUPPORTED', filename, 'this is no file, block device or SCSI generic device');
  const device = kind === 'block' ? await file.blockDevice() : undefined;
  const fileSize = device?.size ?? status.size;
  if (offset > fileSize || offset + (size ?? 0) > fileSize) {
    const text = `the window of ${size ?? 'all'} bytes at ${offset} is not within its ${fileSize} bytes; make it smaller`;
    throw openRefusal('ERR_OUT_OF_BOUNDS', filename, text);
  }
  const locked = await takeLocks({ file, path: filename, locking, readOnly, forceShare });
  const opened = {
    host,
    file,
    kind,
    filename,
    absolute,
    direct,
    locked,
    start: offset,
    window: size,
    fileSize,
    sector: device?.logicalSectorSize ?? 1,
    status,
  };
  const { directory } = await locationOf(absolute);
  // The identity is that of the open file, whatever its name leads to by now.
  return new FileNode(opened, { directory, identity: status.identity }, context);
}

/** Looks before opening: to open a pipe waits for its other end, and to open a device may do something. */
async function checkKind(filename: string, readOnly: boolean, direct: boolean): Promise<void> {
  let stats: fs.Stats;
  try {
    stats = await stat(filename);
  } catch (error) {
    throw openError(error, filename, readOnly, direct);
  }
  if (stats.isDirectory())
    throw openError(Object.assign(new Error(), { code: 'EISDIR' }), filename, readOnly, direct);
  if (stats.isFIFO() || stats.isSocket()) {
    throw openRefusal(
      'ERR_NOT_SUPPORTED',
      filename,
      'this is a pipe or socket, which has no offsets; copy it to a file first',
    );
  }
}

function checkOptions(host: Host, options: FileOptions, readOnly: boolean, direct: boolean): void {
  const { filename, aio = 'auto', locking, forceShare } = options;
  if (forceShare && !readOnly) {
    throw openRefusal('ERR_INVALID_OPTION', filename, 'forceShare is for reading only; add readOnly: true');
  }
  if (aio === 'native' && !direct) {
    throw openRefusal(
      'ERR_INVALID_OPTION',
      filename,
      "aio: 'native' is asynchronous only for direct I/O; add cache.direct: true, or use 'io_uring' or 'threads'",
    );
  }
  if (host.hasCalls) return;
  if (aio === 'native' || aio === 'io_uring') {
    throw openRefusal(
      'ERR_NOT_SUPPORTED',
      filename,
      `aio: '${aio}' needs the native addon, which is not used (${host.reason}); use 'auto' or 'threads'`,
    );
  }
  if (locking === 'on') {
    throw openRefusal(
      'ERR_NOT_SUPPORTED',
      filename,
      `locking: 'on' needs the native addon, which is not used (${host.reason}); use 'auto' to go on without locks`,
    );
  }
}

/** Direct I/O needs memory of known alignment, and a system that has it at all. */
function canBeDirect(host: Host, filename: string): boolean {
  if (fs.constants.O_DIRECT === undefined) {
    throw openRefusal('ERR_NOT_SUPPORTED', filename, 'this system has no O_DIRECT; use cache.direct: false');
  }
  try {
    host.memory();
    return true;
  } catch (error) {
    notice(
      'BLOCKYARD_NO_DIRECT',
      `no page-aligned memory can be reserved (${(error as Error).message}): buffered I/O instead of direct`,
    );
    return false;
  }
}
