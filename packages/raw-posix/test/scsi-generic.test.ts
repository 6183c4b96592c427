import { writeFile } from 'node:fs/promises';
import type { FileCalls, FileStatus } from '@blockyard/native';
import { expect, it } from 'vitest';
import { registryWith, regularFile, systemFailure } from './fake-host.ts';
import { pattern, scratch } from './support.ts';

const at = await scratch();
await writeFile(at('sg'), '');
const character = async (): Promise<FileStatus> => ({ ...regularFile(0), kind: 'character' });
const device = (scsiGeneric: FileCalls['scsiGeneric']) =>
  registryWith(() => ({ status: character, calls: { scsiGeneric } as unknown as FileCalls }), {
    hasCalls: true,
  });

it('tells the limits of the hardware and refuses I/O by name', async () => {
  const registry = device(async () => ({ maxTransfer: 524_288, maxSegments: 128 }));
  await using disk = await registry.open({ driver: 'file', filename: at('sg') });
  expect(disk.limits).toMatchObject({ maxHwTransfer: 524_288, maxHwIov: 128 });
  expect(disk.describe().options).toMatchObject({ filename: at('sg'), scsiGeneric: true });
  const refusal = { code: 'ERR_NOT_SUPPORTED', message: /SCSI generic.*\/dev\/sd\*/ };
  await expect(disk.read(0, new Uint8Array(512))).rejects.toMatchObject(refusal);
  await expect(disk.write(0, pattern(512))).rejects.toMatchObject(refusal);
  await expect(disk.writeZeroes(0, 512)).rejects.toMatchObject(refusal);
  await expect(disk.discard(0, 512)).rejects.toMatchObject(refusal);
  await expect(disk.blockStatus(0, 512)).rejects.toMatchObject(refusal);
});

it('says of another character device that it is none', async () => {
  const registry = device(() => Promise.reject(systemFailure('ENOTTY')));
  await expect(registry.open({ driver: 'file', filename: at('sg') })).rejects.toMatchObject({
    code: 'ERR_NOT_SUPPORTED',
    message: /not a SCSI generic device/,
  });
});

it('needs the addon', async () => {
  const registry = registryWith(() => ({ status: character }));
  await expect(registry.open({ driver: 'file', filename: at('sg') })).rejects.toMatchObject({
    message: /need the native addon/,
  });
});
