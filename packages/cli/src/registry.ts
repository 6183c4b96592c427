import { createRegistry, memory, nullDriver, passThrough, type Registry } from '@blockyard/core';
import { qcow2 } from '@blockyard/qcow2';
import { rawPosix } from '@blockyard/raw-posix';

/** The drivers that the command has. */
export function cliRegistry(): Registry {
  return createRegistry([rawPosix(), qcow2(), memory(), nullDriver(), passThrough()] as Parameters<
    typeof createRegistry
  >[0]);
}
