import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Kind, pattern } from './content.ts';
import { pinSnapshotDates } from './snapshot-dates.ts';

const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`);

/** Makes the files of one image in a directory of its own, and keeps a record of what it did. */
export class Kit {
  readonly directory: string;
  readonly made: string[] = [];

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Runs a command in the directory; all names in it are relative, so no path of this machine gets into an image. */
  run(command: string, args: readonly string[], extra: Record<string, string> = {}): string {
    this.note([command, ...args].map(quote).join(' '));
    return execFileSync(command, args, { cwd: this.directory, env: { ...env, ...extra }, encoding: 'utf8' });
  }

  /** qemu-img, its arguments in one string without quotes. */
  img(args: string): string {
    return this.run('qemu-img', args.split(' '));
  }

  /** qemu-io with one `-c` per command. */
  io(file: string, ...commands: string[]): void {
    const out = this.run('qemu-io', ['-f', 'qcow2', ...commands.flatMap((command) => ['-c', command]), file]);
    // qemu-io ends with 0 after a failed command.
    if (/failed|error|invalid|non-existing/i.test(out)) throw new Error(`${this.made.at(-1)}: ${out}`);
  }

  /** The same where the process is meant to die or the command to fail. */
  ioFailing(file: string, ...commands: string[]): void {
    const args = ['-f', 'qcow2', ...commands.flatMap((command) => ['-c', command]), file];
    this.note(`${['qemu-io', ...args].map(quote).join(' ')} # fails, as it should`);
    spawnSync('qemu-io', args, { cwd: this.directory, env });
  }

  /** A file of seeded bytes, for `convert` and for qemu-io's `write -s`. */
  content(file: string, kind: Kind, length: number, seed: number): void {
    this.note(`# ${file}: ${length} bytes, pattern('${kind}', ${length}, ${seed})`);
    this.save(file, pattern(kind, length, seed));
  }

  save(file: string, bytes: Uint8Array): void {
    writeFileSync(join(this.directory, file), bytes);
  }

  read(file: string): Buffer {
    return readFileSync(join(this.directory, file));
  }

  patch(file: string, offset: number, bytes: Uint8Array): void {
    this.note(`# ${file}: bytes at ${offset} set to ${Buffer.from(bytes).toString('hex')}`);
    const fd = openSync(join(this.directory, file), 'r+');
    writeSync(fd, bytes, 0, bytes.length, offset);
    closeSync(fd);
  }

  /** Snapshots record when they were taken; images made again must be the same. */
  pinDates(file: string): void {
    this.note(`# ${file}: the dates of its snapshots set to 2020-01-01`);
    const bytes = this.read(file);
    pinSnapshotDates(bytes);
    this.save(file, bytes);
  }

  remove(file: string): void {
    rmSync(join(this.directory, file));
  }

  note(line: string): void {
    this.made.push(line);
  }
}
