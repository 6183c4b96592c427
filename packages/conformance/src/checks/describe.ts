import { ensure, equal } from '../expect.ts';
import type { Check } from '../types.ts';

/** The path of something that is not plain JSON, or undefined. */
function notJson(value: unknown, path: string): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object') return path;
  const prototype = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return path;
  for (const [name, member] of Object.entries(value)) {
    const found = notJson(member, `${path}.${name}`);
    if (found) return found;
  }
  return undefined;
}

export const describing: Check[] = [
  {
    name: 'describe/json',
    about: 'describe() is plain JSON',
    requires: [],
    async run({ disk }) {
      const wrong = notJson(disk.describe(), 'description');
      ensure(wrong === undefined, `${wrong} is not plain JSON`);
    },
  },
  {
    name: 'describe/tells',
    about: 'describe() tells driver, size, limits, counters and children of the graph',
    requires: [],
    async run({ disk, node, options, arrangement, size }) {
      const root = disk.describe();
      const own = arrangement === 'pass-through' ? root.children.file : root;
      ensure(own !== undefined, 'describe(): the node below is missing');
      equal(own.driver, node.driver, 'driver');
      equal(own.driver, options.driver.name, 'driver, against the name of the driver');
      equal(own.kind, options.driver.kind, 'kind');
      equal(own.size, size, 'size');
      equal(JSON.stringify(own.limits), JSON.stringify(node.limits), 'limits');
      equal(Object.keys(own.children).sort().join(), Object.keys(node.children).sort().join(), 'children');
      await disk.flush();
      equal(disk.describe().stats.flushes, disk.stats.flushes, 'stats.flushes');
    },
  },
];
