import { expect, it } from 'vitest';
import { interop, Workspace } from '../interop/qemu.ts';
import { crashRun } from './runs/crash.ts';
import type { Opinion } from './runs/judge.ts';
import { imageOf } from './runs/qcow2.ts';
import { put, qemuCheck } from './runs/real-tools.ts';
import { fileNames } from './setup/image.ts';

interop('after a power cut', () => {
  const space = new Workspace();
  const opinion: Opinion = (files) => {
    put(space, files);
    qemuCheck(space, fileNames.image, false);
  };

  it('qemu-img check finds no corruption', async () => {
    for (let seed = 1; seed <= 16; seed++) await crashRun(imageOf(seed), { seed, points: 15, opinion });
  });

  it('qemu-img check finds it where the device lies about flush', async () => {
    const findings: string[] = [];
    for (let seed = 1; seed <= 20; seed++) {
      const lying = { honest: () => false, onlyOpinion: true };
      await crashRun(imageOf(seed), { seed, points: 15, opinion, ...lying }).catch((error: Error) =>
        findings.push(error.message),
      );
    }
    expect(findings.filter((text) => text.includes('qemu-img check')).length).toBeGreaterThan(5);
  });
});
