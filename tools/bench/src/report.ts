import { type Measure, median, type Result } from './pairs.ts';

const middle = (all: readonly Measure[]): number => median(all.map((one) => one.value));

function amount(value: number, unit: string): string {
  if (unit === 'IOPS') return value >= 10_000 ? `${(value / 1000).toFixed(0)}k` : value.toFixed(0);
  return `${value.toPrecision(3)} ${unit}`;
}

function row(result: Result): string[] {
  const { kind, bar, ratio, met, unit } = result;
  const sign = kind === 'added' ? '+' : '';
  const goal = `${kind === 'rate' ? '≥' : '≤'} ${sign}${bar}`;
  const spread = `${Math.min(...result.ratios).toFixed(2)} to ${Math.max(...result.ratios).toFixed(2)}`;
  const [ours, theirs] = [middle(result.ours), middle(result.theirs)].map((value) => amount(value, unit));
  return [
    result.name,
    result.peer,
    ours,
    theirs,
    `${sign}${ratio.toFixed(2)}`,
    spread,
    goal,
    met ? 'met' : 'missed',
  ] as string[];
}

const headings = ['work', 'peer', 'ours', 'peer', 'ratio', 'of pairs', 'bar', ''];

/** A table for a terminal and for Markdown alike. Ratios are medians of pairs, ours / peer; '+' marks a difference. */
export function table(results: readonly Result[]): string {
  const rows = [headings, ...results.map(row)];
  const widths = headings.map((_, column) =>
    Math.max(...rows.map((cells) => (cells[column] as string).length), 3),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return [line(headings), rule, ...rows.slice(1).map(line)].join('\n');
}
