import type { SnapshotInformation } from '@blockyard/core';
import type { NamedReport } from './inspect.ts';
import { fullName } from './names.ts';

/** The keys of `qemu-img info --output=json`, and `file-size`. */
export function infoJson(report: NamedReport): Record<string, unknown> {
  const { backingFile, formatSpecific, format, snapshots } = report;
  return {
    'virtual-size': report.virtualSize,
    filename: report.name,
    ...(report.clusterSize === undefined ? {} : { 'cluster-size': report.clusterSize }),
    format,
    ...(report.actualSize === undefined ? {} : { 'actual-size': report.actualSize }),
    'file-size': report.fileSize,
    ...(report.encrypted ? { encrypted: true } : {}),
    ...(report.compressed ? { compressed: true } : {}),
    ...(backingFile === undefined
      ? {}
      : { 'backing-filename': backingFile, 'full-backing-filename': fullName(backingFile, report.path) }),
    ...(report.backingFormat === undefined ? {} : { 'backing-filename-format': report.backingFormat }),
    ...(snapshots?.length ? { snapshots: snapshots.map(snapshotJson) } : {}),
    ...(formatSpecific === undefined ? {} : { 'format-specific': { type: format, data: formatSpecific } }),
    'dirty-flag': report.dirty ?? false,
  };
}

export function snapshotJson(snapshot: SnapshotInformation): Record<string, unknown> {
  return {
    ...(snapshot.icount === undefined ? {} : { icount: snapshot.icount }),
    'vm-clock-nsec': snapshot.vmClockNsec % 1e9,
    name: snapshot.name,
    'date-sec': snapshot.dateSec,
    'date-nsec': snapshot.dateNsec,
    'vm-clock-sec': Math.floor(snapshot.vmClockNsec / 1e9),
    id: snapshot.id,
    'vm-state-size': snapshot.vmStateSize,
    'disk-size': snapshot.diskSize,
  };
}
