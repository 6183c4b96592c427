import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { interop, Workspace } from './qemu.ts';

const writable = { readOnly: false };

interop('an image that is in use', () => {
  const work = new Workspace();

  it('here is refused to the real QEMU, to write and to read', async () => {
    work.create('ours.qcow2', '1M', '');
    const disk = await work.open('ours.qcow2', writable);
    await disk.write(0, new Uint8Array(512).fill(1));
    for (const command of ['write 0 512', 'read 0 512']) {
      const readOnly = command.startsWith('read') ? ['-r'] : [];
      const { status, stderr } = spawnSync('qemu-io', [...readOnly, '-c', command, work.path('ours.qcow2')], {
        encoding: 'utf8',
      });
      expect(status).not.toBe(0);
      expect(stderr).toContain('lock');
    }
    await disk.close();
    work.io('ours.qcow2', ['read -P 1 0 512']);
  });

  it('by the real QEMU is refused here, and free when that has gone', async () => {
    work.create('theirs.qcow2', '1M', '');
    const qemu = spawn('qemu-io', [work.path('theirs.qcow2')], { stdio: ['pipe', 'pipe', 'ignore'] });
    // It prompts when the image is open.
    await once(qemu.stdout, 'data');
    try {
      for (const options of [writable, {}])
        await expect(work.open('theirs.qcow2', options)).rejects.toMatchObject({ code: 'ERR_IN_USE' });
    } finally {
      qemu.stdin.end('quit\n');
      await once(qemu, 'exit');
    }
    await (await work.open('theirs.qcow2', writable)).close();
  });

  it('by another disk of this program is refused', async () => {
    work.create('both.qcow2', '1M', '');
    const disk = await work.open('both.qcow2', writable);
    await expect(work.open('both.qcow2', writable)).rejects.toMatchObject({ code: 'ERR_IN_USE' });
    await disk.close();
  });
});
