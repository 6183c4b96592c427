import { exitCodes, Interrupted } from './exit.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Run at once, synchronously, when the user insists: the last chance to remove what is unfinished. */
export const lastWishes = new Set<() => void>();

/** The first signal asks to stop cleanly, the second ends the process. */
export function abortOnSignals(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const handle = (signal: NodeJS.Signals) => {
    if (!controller.signal.aborted) return controller.abort(new Interrupted(signal));
    for (const wish of lastWishes) wish();
    process.exit(exitCodes.interrupted);
  };
  for (const signal of signals) process.on(signal, handle);
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of signals) process.off(signal, handle);
    },
  };
}
