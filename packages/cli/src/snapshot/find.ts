import { BlockError, type SnapshotInformation } from '@blockyard/core';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';

/**
 * The snapshot that is meant: an id goes before a name, as everywhere. `snapshot.id=` and `snapshot.name=` say which.
 * @throws BlockError where there is none, or several have the name.
 */
export function findSnapshot(
  text: string,
  snapshots: readonly SnapshotInformation[],
  image: string,
  terminal: Terminal,
): SnapshotInformation {
  const [, only, wanted = text] = /^snapshot\.(id|name)=(.*)$/s.exec(text) ?? [];
  const withId = only === 'name' ? undefined : snapshots.find(({ id }) => id === wanted);
  const named = only === 'id' ? [] : snapshots.filter(({ name }) => name === wanted);
  const others = named.filter(({ id }) => id !== withId?.id);
  if (withId) {
    if (others.length > 0)
      terminal.notice(
        `'${wanted}' is the id of the snapshot '${withId.name}', which is meant here, and a name; snapshot.name=${wanted} means the name`,
      );
    return withId;
  }
  const [found] = named;
  if (found && named.length === 1) return found;
  const ids = named.map(({ id }) => id).join(', ');
  const have = snapshots.map(({ id, name }) => `${id} '${printable(name)}'`).join(', ');
  const why = found
    ? `several are named '${wanted}'; say which by its id (${ids})`
    : `there is none with the id or name '${wanted}'; ${have ? `there are ${have}` : 'the image has no snapshots'}`;
  throw new BlockError('ERR_INVALID_OPTION', `snapshot of ${image}: ${why}`, { op: 'snapshot', path: image });
}
