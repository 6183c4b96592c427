import type { SnapshotInformation } from '@blockyard/core';
import { formatBytes, formatExact } from '../output/bytes.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import type { Colors } from '../terminal.ts';
import type { NamedReport } from './inspect.ts';
import { fullName } from './names.ts';

/** For people, in the words and the order of `qemu-img info`. */
export function infoText(report: NamedReport, colors: Colors): string {
  const { backingFile, path, snapshots, actualSize } = report;
  const lines: [label: string, value: string][] = [
    ['image', report.name],
    ['file format', report.format],
    ['virtual size', formatExact(report.virtualSize)],
    ['file size', formatExact(report.fileSize)],
  ];
  if (actualSize !== undefined) lines.push(['disk size', `${formatBytes(actualSize)} occupied`]);
  if (report.encrypted) lines.push(['encrypted', 'yes']);
  if (report.clusterSize !== undefined) lines.push(['cluster size', String(report.clusterSize)]);
  if (report.dirty) lines.push(['dirty', 'yes: it was not closed cleanly']);
  if (backingFile !== undefined) {
    const full = fullName(backingFile, path);
    lines.push(['backing file', full === backingFile ? backingFile : `${backingFile} (${full})`]);
    lines.push(['backing format', report.backingFormat ?? 'not recorded']);
  }
  if (report.dataFile !== undefined) lines.push(['data file', report.dataFile]);
  const text = lines.map(([label, value]) => `${colors.dim(`${label}:`)} ${printable(value)}`);
  if (snapshots?.length)
    text.push(colors.dim('snapshots:'), ...snapshotTable(snapshots).map((line) => `  ${line}`));
  const specific = Object.entries(report.formatSpecific ?? {});
  if (specific.length > 0) text.push(colors.dim('format specific:'), ...specificLines(specific, 1));
  return text.join('\n');
}

export function snapshotTable(snapshots: readonly SnapshotInformation[]): string[] {
  const rows = snapshots.map((snapshot) => [
    printable(snapshot.id),
    printable(snapshot.name),
    formatBytes(snapshot.vmStateSize),
    formatBytes(snapshot.diskSize),
    date(snapshot.dateSec),
    clock(snapshot.vmClockNsec),
  ]);
  return table([['ID', 'NAME', 'VM STATE', 'DISK SIZE', 'DATE (UTC)', 'VM CLOCK'], ...rows], [2, 3]);
}

function date(seconds: number): string {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString().replace('T', ' ').slice(0, 19);
}

function clock(nanoseconds: number): string {
  const ms = Math.floor(nanoseconds / 1e6);
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  return `${two(ms / 3.6e6)}:${two((ms / 6e4) % 60)}:${two((ms / 1000) % 60)}.${String(ms % 1000).padStart(3, '0')}`;
}

function specificLines(entries: [string, unknown][], depth: number): string[] {
  const indent = '  '.repeat(depth);
  return entries.flatMap(([name, value]) => {
    const label = name.replaceAll('-', ' ');
    if (Array.isArray(value)) {
      if (value.every((item) => typeof item !== 'object'))
        return [`${indent}${label}: ${printable(value.join(', ')) || 'none'}`];
      return value.flatMap((item, index) => [
        `${indent}${label} [${index}]:`,
        ...specificLines(Object.entries(item as object), depth + 1),
      ]);
    }
    if (typeof value === 'object' && value !== null)
      return [`${indent}${label}:`, ...specificLines(Object.entries(value), depth + 1)];
    return [`${indent}${label}: ${printable(String(value))}`];
  });
}
