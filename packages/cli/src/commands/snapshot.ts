import type { Command } from 'commander';
import { UsageError } from '../exit.ts';
import { type ImageFlags, imageOptions, type OutputFlags, outputOptions } from '../options/common.ts';
import { applyOutput } from '../output/apply.ts';
import { cliRegistry } from '../registry.ts';
import {
  applySnapshot,
  createSnapshot,
  deleteSnapshot,
  listSnapshots,
  type SnapshotJob,
} from '../snapshot/actions.ts';
import type { Terminal } from '../terminal.ts';

const help = `
A snapshot is named by its id or its name; where one's id is another's name, the id
counts. The backing file is not opened: it may be missing. With --apply the disk
becomes what it was, and what it is now is lost: take a snapshot of it first.

Examples:
  blockyard snapshot -l vm.qcow2
  blockyard snapshot -c before-update vm.qcow2
  blockyard snapshot -a before-update vm.qcow2
  blockyard snapshot -d 1 vm.qcow2
`;

interface SnapshotFlags extends ImageFlags, OutputFlags {
  list?: boolean;
  create?: string;
  apply?: string;
  delete?: string;
  forceShare?: boolean;
}

export function define(command: Command, terminal: Terminal): void {
  command.description('Lists, takes, applies or deletes internal snapshots of an image.').argument('<image>');
  command
    .option('-l, --list', 'list them; also what happens when nothing else is said')
    .option('-c, --create <name>', 'take a snapshot of the disk as it is')
    .option('-a, --apply <snapshot>', 'make the disk what it was at the snapshot')
    .option('-d, --delete <snapshot>', 'delete the snapshot, and what only it holds')
    .option('-U, --force-share', 'with --list: of an image that is in use by a writer');
  outputOptions(imageOptions(command)).addHelpText('after', help);
  command.action(async (image: string) => {
    const flags = command.opts<SnapshotFlags>();
    applyOutput(terminal, flags);
    const { list, create, apply, delete: remove, forceShare, ...rest } = flags;
    if ([list, create, apply, remove].filter((flag) => flag !== undefined).length > 1)
      throw new UsageError('--list, --create, --apply and --delete: one at a time');
    const changes = [create, apply, remove].some((flag) => flag !== undefined);
    if (changes && forceShare)
      throw new UsageError('-U: an image that is in use can be read, not changed; leave it out');
    if ([create, apply, remove].includes('')) throw new UsageError('the name of the snapshot is empty');
    const job: SnapshotJob = {
      image,
      flags: { ...rest, ...(forceShare ? { forceShare } : {}) },
      registry: cliRegistry(),
      terminal,
    };
    if (create !== undefined) await createSnapshot(job, create);
    else if (apply !== undefined) await applySnapshot(job, apply);
    else if (remove !== undefined) await deleteSnapshot(job, remove);
    else await listSnapshots(job);
  });
}
