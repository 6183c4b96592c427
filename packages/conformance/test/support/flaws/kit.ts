import type { Capabilities } from '@blockyard/conformance';
import type { Extent, IoData } from '@blockyard/core';
import type { Flaws, StoreNode } from '../store.ts';

/** A driver with something wrong, and the checks that must find it. */
export interface Flaw extends Flaws {
  what: string;
  found: readonly string[];
  /** What is said of the driver, over the full set. */
  declared?: Partial<Capabilities>;
  /** Where it would take long to be found. */
  settings?: { timeout: number };
}

type Method = (...args: never[]) => unknown;

/** Puts `change` around a method of an open node; it gets the method and its arguments. */
export function around<A extends unknown[]>(
  node: StoreNode,
  name: string,
  change: (original: (...args: A) => unknown, ...args: A) => unknown,
): void {
  const methods = node as unknown as Record<string, Method>;
  const original = methods[name]?.bind(node) as unknown as (...args: A) => unknown;
  methods[name] = ((...args: A) => change(original, ...args)) as unknown as Method;
}

/** Replaces a property of an open node. */
export const define = (node: StoreNode, name: string, get: () => unknown): void => {
  Object.defineProperty(node, name, { get, configurable: true });
};

export interface Options {
  fua?: boolean;
  mayUnmap?: boolean;
  noFallback?: boolean;
  signal?: AbortSignal;
}
export type Transfer = [offset: number, data: IoData, options: Options];
export type Span = [offset: number, length: number, options: Options];
type Change<A extends unknown[]> = (
  node: StoreNode,
  original: (...args: A) => unknown,
  ...args: A
) => unknown;

const changed = <A extends unknown[]>(
  what: string,
  found: readonly string[],
  name: string,
  make: () => Change<A>,
): Flaw => ({
  what,
  found,
  node(node) {
    // Each node has a state of its own.
    const change = make();
    around<A>(node, name, (original, ...args) => change(node, original, ...args));
  },
});

/** A flaw in a method that moves bytes: `_read`, `_write`, or the public ones. */
export const transfer = (
  what: string,
  found: readonly string[],
  name: string,
  make: () => Change<Transfer>,
): Flaw => changed(what, found, name, make);

/** A flaw in a method on a range. */
export const span = (what: string, found: readonly string[], name: string, make: () => Change<Span>): Flaw =>
  changed(what, found, name, make);

/** A flaw in what `_blockStatus` tells. */
export const told = (
  what: string,
  found: readonly string[],
  change: (extent: Extent, asked: number) => Partial<Extent>,
): Flaw =>
  span(what, found, '_blockStatus', () => async (_node, original, ...args) => {
    const extent = (await original(...args)) as Extent;
    return { ...extent, ...change(extent, args[1]) };
  });
