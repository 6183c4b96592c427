import { Breath } from './breath.ts';

/**
 * Takes jobs in order and works on several at once, asking for the next ones ahead. After a failure nothing new is
 * started, and the promise settles only when everything that was started has: jobs that wait for one another must be
 * let go by `onFailure`.
 */
export async function runLanes<T>(
  jobs: AsyncGenerator<T, void, undefined>,
  width: number,
  work: (job: T, lane: number, sequence: number) => Promise<void> | void,
  onFailure: () => void = () => {},
): Promise<void> {
  let failure: { error: unknown } | undefined;
  let sequence = 0;
  const breath = new Breath();
  const ahead: Promise<IteratorResult<T, void>>[] = [];
  const ask = () => {
    const next = jobs.next();
    // It is awaited in turn; until then a failure is not unhandled.
    next.catch(() => {});
    ahead.push(next);
  };
  for (let i = 0; i < width; i++) ask();
  const lane = async (index: number) => {
    while (!failure) {
      const next = ahead.shift() as Promise<IteratorResult<T, void>>;
      ask();
      const own = sequence++;
      try {
        const { done, value } = await next;
        if (done) return;
        const pause = breath.take();
        if (pause) await pause;
        if (!failure) await work(value as T, index, own);
      } catch (error) {
        failure ??= { error };
        onFailure();
      }
    }
  };
  await Promise.all(Array.from({ length: width }, (_, index) => lane(index)));
  await Promise.allSettled(ahead);
  await jobs.return(undefined);
  if (failure) throw failure.error;
}
