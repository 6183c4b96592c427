import type { CheckResult } from '@blockyard/core';
import { exitCodes } from '../exit.ts';
import { formatExact } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';

/** What `qemu-img check` ends with. */
export const checkCodes = {
  clean: exitCodes.ok,
  incomplete: 1,
  corruptions: 2,
  leaks: 3,
  unsupported: 63,
} as const;

/** Findings that people are shown; a program gets all that were kept. */
const shownFindings = 20;

export function checkCode({ checkErrors, corruptions, leaks }: CheckResult): number {
  if (checkErrors > 0) return checkCodes.incomplete;
  if (corruptions > 0) return checkCodes.corruptions;
  return leaks > 0 ? checkCodes.leaks : checkCodes.clean;
}

/** The keys of `qemu-img check --output=json`, which leaves out most zeroes, and `findings`. */
export function checkJson(result: CheckResult, image: string, format: string): Record<string, unknown> {
  const counts = {
    leaks: result.leaks,
    corruptions: result.corruptions,
    'leaks-fixed': result.leaksFixed,
    'corruptions-fixed': result.corruptionsFixed,
    'allocated-clusters': result.allocatedClusters,
    'fragmented-clusters': result.fragmentedClusters,
    'compressed-clusters': result.compressedClusters,
  };
  return {
    'image-end-offset': result.imageEndOffset,
    'total-clusters': result.totalClusters,
    'check-errors': result.checkErrors,
    filename: image,
    format,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(result.findings.length > 0 ? { findings: result.findings } : {}),
  };
}

export function checkText(
  result: CheckResult,
  image: string,
  repair: 'leaks' | 'all' | undefined,
  { out }: Terminal,
): string {
  const { findings } = result;
  const lines = findings.slice(0, shownFindings).map((finding) => printable(finding));
  if (findings.length > shownFindings)
    lines.push(out.dim(`and ${findings.length - shownFindings} more (--json has them)`));
  const fixed = [
    ...count(result.corruptionsFixed, 'error', 'errors'),
    ...count(result.leaksFixed, 'leaked cluster', 'leaked clusters'),
  ];
  if (fixed.length > 0) lines.push(`${out.green('repaired:')} ${fixed.join(', ')}`);
  lines.push(...verdict(result, image, repair, out));
  const { totalClusters: total, allocatedClusters: allocated } = result;
  if (total > 0) {
    const share = (part: number, of: number) => `${of === 0 ? 0 : Number(((100 * part) / of).toFixed(2))} %`;
    const parts = [
      `${share(allocated, total)} of the disk (${allocated} of ${total} clusters)`,
      `${share(result.fragmentedClusters, allocated)} of that fragmented`,
      `${share(result.compressedClusters, allocated)} compressed`,
    ];
    lines.push(`${out.dim('allocated:')} ${parts.join(', ')}`);
  }
  lines.push(`${out.dim('in use up to:')} ${formatExact(result.imageEndOffset)}`);
  return lines.join('\n');
}

function verdict(
  result: CheckResult,
  image: string,
  repair: 'leaks' | 'all' | undefined,
  out: Terminal['out'],
): string[] {
  const { corruptions, leaks, checkErrors } = result;
  const name = printable(image);
  const lines: string[] = [];
  if (checkErrors > 0) {
    const [what] = count(checkErrors, 'thing', 'things');
    lines.push(`${out.red('not whole:')} ${what} could not be checked, so that this says little of ${name}`);
  }
  if (corruptions > 0) {
    const [what] = count(corruptions, 'error', 'errors');
    const next =
      repair === 'all'
        ? 'that repair could not mend: copy what can be read with convert --salvage'
        : 'left; do not write to it before check -r all';
    lines.push(`${out.red('damaged:')} ${what} in ${name}, ${next}`);
  }
  if (leaks > 0) {
    const [what] = count(leaks, 'cluster', 'clusters');
    const next = repair === undefined ? '; check -r leaks gets it back' : '';
    lines.push(`${out.yellow('leaked:')} ${what}: only space is lost, no data${next}`);
  }
  if (lines.length === 0) lines.push(`${out.green('no errors')} in ${name}`);
  return lines;
}

const count = (n: number, one: string, more: string): string[] =>
  n === 0 ? [] : [`${n} ${n === 1 ? one : more}`];
