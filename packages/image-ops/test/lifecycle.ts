import { afterEach } from 'vitest';

/** Closes after each test what the test has opened. */
export function closing(): <T extends { close(): Promise<void> }>(node: T | Promise<T>) => Promise<T> {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const node of open.splice(0)) await node.close().catch(() => {});
  });
  return async (node) => {
    const opened = await node;
    open.push(opened);
    return opened;
  };
}
