import { readOnlySupports } from '@blockyard/core';
import type { Capabilities, Check, ConformanceOptions, Requirement } from './types.ts';

/** What the author says that the driver can do, complete. */
export function capabilitiesOf({ supports = {} }: ConformanceOptions): Capabilities {
  const write = supports.write ?? false;
  return { ...readOnlySupports, store: write, persist: false, ...supports };
}

const matches = (pattern: string, name: string): boolean =>
  pattern === name || (pattern.endsWith('/*') && name.startsWith(pattern.slice(0, -1)));

const without: Record<Requirement, string> = {
  write: 'the driver does not write',
  discard: 'the driver does not discard',
  writeZeroes: 'the driver has no write-zeroes of its own',
  blockStatus: 'the driver does not tell extents',
  resize: 'the driver does not resize',
  fua: 'the driver does not take fua',
  compress: 'the driver does not compress',
  copyRange: 'the driver does not copy ranges',
  store: 'the driver does not keep what is written',
  persist: 'what is written is gone when the node is closed',
};

/** Why a check is not run, or undefined. */
export function skipReason(check: Check, options: ConformanceOptions): string | undefined {
  for (const [pattern, reason] of Object.entries(options.skip ?? {}))
    if (matches(pattern, check.name)) return reason;
  const can = capabilitiesOf(options);
  const missing = check.requires.find((name) => !can[name]);
  if (missing) return without[missing];
  if (check.unless && can[check.unless]) return `the driver can: ${check.unless}`;
  return undefined;
}

/** @throws TypeError when `skip` names a check that does not exist, or gives no reason. */
export function checkSkips(skip: ConformanceOptions['skip'], checks: readonly Check[]): void {
  for (const [pattern, reason] of Object.entries(skip ?? {})) {
    if (!checks.some(({ name }) => matches(pattern, name)))
      throw new TypeError(`skip: there is no check '${pattern}'`);
    if (!reason) throw new TypeError(`skip: '${pattern}' needs a reason`);
  }
}
