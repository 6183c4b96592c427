import fc from 'fast-check';
import type { Bench } from '../bench/bench.ts';
import { Random } from '../bench/random.ts';
import { ensure, isZero, sameBytes } from '../expect.ts';

/** One random request. Places are parts of the disk, so that a shrunk sequence fits every size. */
export type Step =
  | { op: 'read' | 'zero' | 'zero-unmap' | 'discard' | 'status'; at: number; length: number }
  | {
      op: 'write' | 'write-fua' | 'write-vector' | 'write-zero-bytes';
      at: number;
      length: number;
      seed: number;
    }
  | { op: 'flush' }
  | { op: 'resize'; at: number };

const place = {
  at: fc.nat(10_000),
  length: fc.oneof(fc.nat(700), fc.nat(70_000), fc.constantFrom(512, 4096, 65_536)),
};
const seed = fc.nat(2 ** 30);

export const readSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('read' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('status' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('flush' as const) }) },
);

const writeSteps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    op: fc.constantFrom(
      'write' as const,
      'write-fua' as const,
      'write-vector' as const,
      'write-zero-bytes' as const,
    ),
    ...place,
    seed,
  }),
  fc.record({ op: fc.constantFrom('zero' as const, 'zero-unmap' as const, 'discard' as const), ...place }),
);

export const anySteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: readSteps },
  { weight: 4, arbitrary: writeSteps },
);

export const resizeSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 7, arbitrary: anySteps },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('resize' as const), at: fc.nat(20_000) }) },
);

/** Where a step falls: multiples of 512 and of 4096 as often as anything else. */
function range({ size }: Bench, at: number, length: number): { offset: number; length: number } {
  const exact = Math.floor((at * size) / 10_001);
  const offset = at % 3 === 0 ? exact : exact - (exact % (at % 3 === 1 ? 512 : 4096));
  return { offset, length: Math.min(length, size - offset) };
}

async function statusStep({ disk, model }: Bench, offset: number, length: number): Promise<number> {
  const extent = await disk.blockStatus(offset, length);
  ensure(
    extent.offset === offset && extent.length > 0 && extent.length <= length,
    `blockStatus of ${length} bytes at ${offset}: ${extent.length} bytes at ${extent.offset}`,
  );
  const bytes = model.subarray(offset, offset + extent.length);
  ensure(
    !extent.zero || isZero(bytes),
    `${extent.length} bytes at ${offset} are told as zero, but have other bytes`,
  );
  return extent.length;
}

/** Block status of the whole disk, against the model. */
export async function verifyStatus(bench: Bench): Promise<void> {
  for (let at = 0; at < bench.size; ) at += await statusStep(bench, at, bench.size - at);
}

async function writeStep(bench: Bench, op: string, offset: number, data: Uint8Array): Promise<void> {
  const third = Math.floor(data.length / 3);
  const vector = [data.subarray(0, third), data.subarray(third, third), data.subarray(third)];
  await bench.disk.write(offset, op === 'write-vector' ? vector : data, { fua: op === 'write-fua' });
  bench.model.set(data, offset);
}

async function resizeStep(bench: Bench, at: number): Promise<void> {
  const size = Math.floor((at * bench.fixture.size) / 10_000);
  await bench.disk.truncate(size, { shrink: true });
  const model = new Uint8Array(size);
  model.set(bench.model.subarray(0, size));
  bench.model = model;
}

/** Does one step on the disk and in the model, and compares what it can. */
export async function perform(bench: Bench, step: Step): Promise<void> {
  const { disk, model } = bench;
  if (step.op === 'flush') return await disk.flush();
  if (step.op === 'resize') return await resizeStep(bench, step.at);
  const { offset, length } = range(bench, step.at, step.length);
  switch (step.op) {
    case 'read':
      return sameBytes(
        await disk.read(offset, length),
        model.subarray(offset, offset + length),
        offset,
        `read of ${length} bytes at ${offset}`,
      );
    case 'status':
      if (length > 0) await statusStep(bench, offset, length);
      return;
    case 'zero':
    case 'zero-unmap':
      await disk.writeZeroes(offset, length, { mayUnmap: step.op === 'zero-unmap' });
      model.fill(0, offset, offset + length);
      return;
    case 'discard':
      await disk.discard(offset, length);
      model.set(await disk.read(offset, length), offset);
      return;
    case 'write-zero-bytes':
      return await writeStep(bench, step.op, offset, new Uint8Array(length));
    default:
      return await writeStep(bench, step.op, offset, new Random(step.seed).bytes(length));
  }
}
