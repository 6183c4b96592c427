import { BlockError } from '@blockyard/core';
import { loadFailure, native } from '@blockyard/native';
import type { Host } from './host.ts';
import { fsHost } from './host-fs.ts';
import { nativeHost } from './host-native.ts';
import { notice } from './notice.ts';

export type HostChoice = 'auto' | 'native' | 'node:fs';

let chosen: Host | undefined;

/** The native addon where it could be loaded, else node:fs with one line of notice. */
export function selectHost(choice: HostChoice): Host {
  if (choice === 'node:fs') return fsHost("asked for with rawPosix({ host: 'node:fs' })");
  if (choice === 'native' && !native) {
    const text = `open: the native addon cannot be used: ${loadFailure()}; without host: 'native' files work over node:fs, slower`;
    throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'open', driver: 'file' });
  }
  if (chosen) return chosen;
  if (native) return (chosen = nativeHost(native));
  const reason = loadFailure() ?? 'the native addon is not there';
  notice(
    'BLOCKYARD_NODE_FS',
    `using node:fs: slower, no OFD locks, no holes (no discard, block status or fast zeroes), because ${reason}`,
  );
  return (chosen = fsHost(reason));
}
