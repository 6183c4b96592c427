/**
 * Runs `work` over `items`, at most `width` at once. After a failure nothing new is started, and the promise settles
 * only when everything that was started has: memory in use is never given back early.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => unknown,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const lane = async () => {
    while (!failure) {
      const next = iterator.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  if (failure) throw failure.error;
}
