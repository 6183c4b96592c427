import { BlockError } from '@blockyard/core';
import type { HostFile } from './host.ts';
import { notice } from './notice.ts';
import type { LockingOption } from './options.ts';
import { codeOf, isUnsupported } from './system-codes.ts';

/**
 * QEMU's image locks: a user holds read locks on one byte for each permission it has (100 and on), and on one for
 * each that it does not let others have (200 and on). Whoever comes takes its own first and then looks for others', so
 * that of two at the same time at least one sees the other.
 */
const permissionBase = 100;
const unsharedBase = 200;

const consistentRead = 0;
const write = 1;
const resize = 3;

/** What others do, and what they do not let anybody do. */
const names = new Map([
  [consistentRead, ['reads it', 'read it']],
  [write, ['has it open for writing', 'write to it']],
  [resize, ['may resize it', 'resize it']],
]);

type How = 'has' | 'does not share';

export interface LockRequest {
  readonly file: HostFile;
  readonly path: string;
  readonly locking: LockingOption;
  readonly readOnly: boolean;
  readonly forceShare: boolean;
}

/** Whether locks were taken. They go when the file is closed. @throws BlockError ERR_IN_USE */
export async function takeLocks(request: LockRequest): Promise<boolean> {
  const { file, path, locking, readOnly, forceShare } = request;
  if (locking === 'off' || !file.calls) return false;
  const held = readOnly ? [consistentRead] : [consistentRead, write, resize];
  const unshared = forceShare ? [] : [write, resize];
  try {
    for (const bit of held) await hold(request, permissionBase + bit, bit, 'has');
    for (const bit of unshared) await hold(request, unsharedBase + bit, bit, 'does not share');
    for (const bit of held) await look(request, unsharedBase + bit, bit, 'does not share');
    for (const bit of unshared) await look(request, permissionBase + bit, bit, 'has');
    return true;
  } catch (error) {
    if (!isUnsupported(error) && !['ENOLCK', 'EINVAL'].includes(codeOf(error) ?? '')) throw error;
    if (locking === 'on') {
      const text = `open ${path}: locking is on, and the file system refuses locks; use locking: 'auto' to go on without`;
      throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'open', driver: 'file', path, cause: error });
    }
    notice(
      'BLOCKYARD_NO_LOCKS',
      `the file system of ${path} refuses locks (${codeOf(error)}): nothing keeps others from writing it`,
    );
    return false;
  }
}

async function hold(request: LockRequest, byte: number, bit: number, how: How): Promise<void> {
  const { file } = request;
  if (!(await file.calls?.lock(file.fd, 'read', byte, 1))) throw inUse(request, bit, how);
}

async function look(request: LockRequest, byte: number, bit: number, how: How): Promise<void> {
  const { file } = request;
  if (!(await file.calls?.testLock(file.fd, 'write', byte, 1))) throw inUse(request, bit, how);
}

function inUse({ path, readOnly }: LockRequest, bit: number, how: How): BlockError {
  const next = readOnly
    ? 'close it there, or read it all the same with forceShare: true (what is read may be inconsistent)'
    : 'close it there (a running VM, another open of this program), or open it with readOnly: true';
  const [does, lets] = names.get(bit) ?? [];
  const who = how === 'has' ? `another program ${does}` : `another program lets nobody else ${lets}`;
  const text = `open ${path}: the image is in use: ${who}; ${next}`;
  return new BlockError('ERR_IN_USE', text, { op: 'open', driver: 'file', path });
}
