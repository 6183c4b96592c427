// One listener per signal, however many requests wait for it: a signal warns of a leak at eleven.

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `abort` once when the signal is aborted, unless the returned function is called before. */
export function onAbort(signal: AbortSignal, abort: () => void): () => void {
  let own = waiting.get(signal);
  if (own === undefined) {
    const all = new Set<() => void>();
    own = all;
    waiting.set(signal, all);
    signal.addEventListener(
      'abort',
      () => {
        for (const one of [...all]) one();
      },
      { once: true },
    );
  }
  own.add(abort);
  return () => own.delete(abort);
}
