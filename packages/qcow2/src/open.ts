import type { BlockNode, ChildOptions, OpenContext } from '@blockyard/core';
import { CompressedClusters } from './compressed.ts';
import { decoderFor } from './decompress.ts';
import { badOption, invalid, unsupported, writeRefused } from './failure.ts';
import { MetadataGuard, refcountBlocks } from './guard.ts';
import type { Qcow2Header } from './header.ts';
import { L1Table } from './l1.ts';
import { L2Cache } from './l2-cache.ts';
import { Mapping } from './mapping.ts';
import type { Qcow2Options } from './options.ts';
import type { Parts } from './parts.ts';
import { readHeader } from './read-header.ts';
import { findSnapshot, readSnapshots } from './snapshots.ts';
import {
  checkTable,
  checkTables,
  l1Table,
  maxTableBytes,
  readTable,
  refcountTable,
  type Table,
} from './tables.ts';

const defaultCacheBytes = 32 << 20;

/** Opens the image and what it needs; when that fails, everything that was opened is closed again. */
export async function openParts(options: Qcow2Options, context: OpenContext): Promise<Parts> {
  const opened: BlockNode[] = [];
  const keep = async (opening: Promise<BlockNode>): Promise<BlockNode> => {
    const node = await opening;
    opened.push(node);
    return node;
  };
  try {
    if (!context.common.readOnly) throw writeRefused();
    const file = await keep(context.openChild('file', options.file));
    const header = await readHeader(file);
    if (header.encryption) {
      throw unsupported(
        file,
        `it is encrypted (${header.encryption.toUpperCase()}), which is not supported; decrypt it by converting it`,
      );
    }
    const view = await openView(header, options.snapshot, file);
    const data = header.externalData ? await keep(openData(header, options.dataFile, file, context)) : file;
    if (!header.externalData && options.dataFile) {
      throw badOption(file, 'dataFile is given, and the image keeps its data in its own file');
    }
    const backing = await openBacking(header, options.backing, file, context, keep);
    const cache = new L2Cache(file, header.clusterSize, options.cacheSize ?? defaultCacheBytes);
    return {
      header,
      size: view.size,
      snapshot: view.snapshot,
      file,
      data,
      backing,
      cache,
      mapping: new Mapping(header, view.l1, cache, view.guard, file, data),
      compressed: new CompressedClusters(file, header.clusterSize, decoderFor(header.compressionType)),
    };
  } catch (error) {
    for (const node of opened.reverse()) await node.close().catch(() => {});
    throw error;
  }
}

/** The disk as it is now, or as it was at a snapshot. */
async function openView(header: Qcow2Header, wanted: string | undefined, file: BlockNode) {
  const tables = checkTables(header, file);
  let table: Table = l1Table(header);
  let size = header.size;
  const snapshot =
    wanted === undefined ? undefined : findSnapshot(await readSnapshots(header, file), wanted, file);
  if (snapshot) {
    table = {
      what: `the L1 table of snapshot ${snapshot.id}`,
      offset: snapshot.l1TableOffset,
      length: snapshot.l1Size * 8,
    };
    size = snapshot.diskSize;
    if (table.length > 0) {
      checkTable(file, header.clusterSize, table, maxTableBytes.l1);
      const other = tables.find(
        (one) => table.offset < one.offset + one.length && one.offset < table.offset + table.length,
      );
      if (other)
        throw invalid(
          file,
          `${table.what} at ${table.offset} overlaps ${other.what} at ${other.offset}`,
          table.offset,
        );
      tables.push(table);
    }
  }
  const covered = (header.clusterSize / (header.extendedL2 ? 16 : 8)) * header.clusterSize;
  const needed = Math.ceil(size / covered);
  if (table.length / 8 < needed) {
    throw invalid(
      file,
      `${table.what} has ${table.length / 8} entries, and a disk of ${size} bytes needs ${needed}`,
      36,
    );
  }
  const l1 = new L1Table(table.length > 0 ? await readTable(file, table) : new Uint8Array(0));
  const blocks = refcountBlocks(await readTable(file, refcountTable(header)), header.clusterSize);
  return { size, snapshot, l1, guard: new MetadataGuard(header.clusterSize, tables, blocks, l1) };
}

function openData(
  header: Qcow2Header,
  given: ChildOptions | undefined,
  file: BlockNode,
  context: OpenContext,
): Promise<BlockNode> {
  if (given) return context.openChild('data-file', given);
  const name = header.dataFile;
  if (name === undefined)
    throw badOption(file, 'its data is in an external file that it does not name; give dataFile');
  return context.gate.follow({ from: file, role: 'data-file', name, format: 'raw' }, { readOnly: true });
}

async function openBacking(
  header: Qcow2Header,
  given: ChildOptions | null | undefined,
  file: BlockNode,
  context: OpenContext,
  keep: (opening: Promise<BlockNode>) => Promise<BlockNode>,
): Promise<BlockNode | undefined> {
  if (given === null) return undefined;
  if (given) return await keep(context.openChild('backing', given));
  const name = header.backingFile;
  if (name === undefined) return undefined;
  return await keep(context.gate.follow({ from: file, role: 'backing', name, format: header.backingFormat }));
}
