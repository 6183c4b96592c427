import { drawOperation } from '../guest/draw.ts';
import type { Operation } from '../guest/operations.ts';
import { Random } from '../random.ts';
import { image } from '../setup/image.ts';
import { drawSetup } from '../setup/setup.ts';
import type { Subject } from '../setup/subject.ts';

/** The image that a seed stands for. */
export const imageOf = (seed: number): Subject => image(drawSetup(seed));

/** The operations that a seed stands for. */
export function operationsOf(seed: number, count: number): Operation[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => drawOperation(random));
}
