/** How much is done, by the environment: the defaults are what must pass before a release. */
const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

export const soak = {
  /** Power cuts. */
  points: number('BLOCKYARD_SOAK_POINTS', 10_000),
  /** Operations against the plain buffer. */
  operations: number('BLOCKYARD_SOAK_OPERATIONS', 200_000),
  /** The first seed; the others follow it. */
  seed: number('BLOCKYARD_SOAK_SEED', 1),
  /** Seeds that fail are told at the end, and this many are enough. */
  failures: number('BLOCKYARD_SOAK_FAILURES', 10),
};

export interface Failed {
  seed: number;
  message: string;
}

/** Runs seed after seed until `work` has done enough; a seed that fails does not hold up the others. */
export async function seeds(
  what: string,
  enough: number,
  least: number,
  work: (seed: number) => Promise<number>,
): Promise<Failed[]> {
  const failed: Failed[] = [];
  let done = 0;
  let seed = soak.seed;
  for (; (done < enough || seed - soak.seed < least) && failed.length < soak.failures; seed++) {
    try {
      done += await work(seed);
    } catch (error) {
      failed.push({ seed, message: (error as Error).message });
      console.log(`${what}, seed ${seed} FAILED: ${(error as Error).message}`);
    }
    if ((seed - soak.seed) % 50 === 49) console.log(`${what}: ${done} of ${enough}, up to seed ${seed}`);
  }
  console.log(`${what}: ${done} done with seeds ${soak.seed} to ${seed - 1}, ${failed.length} failed`);
  return failed;
}
