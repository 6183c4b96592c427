import { expect, it } from 'vitest';
import { interop, Workspace } from '../../interop/qemu.ts';
import { crashRun } from '../runs/crash.ts';
import type { Opinion } from '../runs/judge.ts';
import { imageOf } from '../runs/qcow2.ts';
import { put, qemuCheck } from '../runs/real-tools.ts';
import { fileNames } from '../setup/image.ts';
import { seeds, soak } from './settings.ts';

const perSeed = 25;

interop('power cuts', () => {
  const space = new Workspace();
  const opinion: Opinion = (files) => {
    put(space, files);
    qemuCheck(space, fileNames.image, false);
  };

  it('cost leaks at most, in our eyes and those of the real qemu-img', { timeout: 3_600_000 }, async () => {
    const failed = await seeds('power cuts', soak.points, 40, (seed) =>
      crashRun(imageOf(seed), { seed, points: perSeed, operations: 60, opinion }),
    );
    expect(failed).toEqual([]);
  });
});
