import { Readable, Writable } from 'node:stream';
import type {
  ReadableStream as NodeReadableStream,
  WritableStream as NodeWritableStream,
} from 'node:stream/web';
import type { Disk } from './disk.ts';
import type { RequestOptions } from './request/options.ts';
import type { StreamRange } from './streams.ts';

/** The bytes of a range as a Node stream. */
export function createReadStream(
  disk: Disk,
  range: StreamRange = {},
  options: RequestOptions = {},
): Readable {
  return Readable.fromWeb(disk.readable(range, options) as NodeReadableStream);
}

/** A Node stream that writes one chunk after the other and flushes before it finishes. */
export function createWriteStream(
  disk: Disk,
  range: StreamRange = {},
  options: RequestOptions = {},
): Writable {
  return Writable.fromWeb(disk.writable(range, options) as NodeWritableStream);
}
