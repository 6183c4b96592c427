import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { interop, Workspace } from './qemu.ts';

const mib = 1 << 20;
const size = 64 * mib;
const modes = ['off', 'on', 'unmap'] as const;

interop('zeroes that are written', () => {
  const work = new Workspace();
  const allocated = (name: string) => statSync(work.path(name)).blocks / 2;

  const bench = (format: string, name: string, pattern: number, mode: string): void => {
    const below = `file.driver=file,file.filename=${work.path(name)},file.cache.direct=on,file.discard=unmap`;
    const image = `driver=${format},discard=unmap,detect-zeroes=${mode},cache.direct=on,${below}`;
    const load = ['-c', String(size / mib), '-s', '1M', '-S', '1M', '-d', '4'];
    work.img('bench', '-w', `--pattern=${pattern}`, '-t', 'none', ...load, '--image-opts', image);
  };

  const make = (format: string, name: string, filled: boolean): void => {
    rmSync(work.path(name), { force: true });
    execFileSync('qemu-img', ['create', '-q', '-f', format, work.path(name), String(size)]);
    if (filled) bench(format, name, 0x55, 'off');
  };

  const cases = ['qcow2', 'raw'].flatMap((format) =>
    [false, true].flatMap((filled) => modes.map((mode) => ({ format, filled, mode }))),
  );

  it.each(cases)(
    'take as little as by QEMU: $format, filled before: $filled, detectZeroes $mode',
    async (one) => {
      const { format, filled, mode } = one;
      make(format, 'theirs', filled);
      bench(format, 'theirs', 0, mode);
      make(format, 'ours', filled);
      const file = { driver: 'file', filename: work.path('ours') };
      const disk = await work.registry.open({
        ...{ driver: format, file, cache: { direct: true }, discard: 'unmap', detectZeroes: mode },
      });
      const zeroes = disk.allocate(mib).fill(0);
      for (let at = 0; at < size; at += mib) await disk.write(at, zeroes);
      await disk.close();
      // A file system may take another block for its own notes.
      expect(Math.abs(allocated('ours') - allocated('theirs'))).toBeLessThanOrEqual(8);
      expect(statSync(work.path('ours')).size).toBeLessThanOrEqual(statSync(work.path('theirs')).size);
      if (format === 'qcow2') expect(work.img('check', work.path('ours'))).toContain('No errors');
    },
  );
});
