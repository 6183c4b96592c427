import type { BlockNode, ChildOptions, OpenContext } from '@blockyard/core';
import { CompressedClusters } from './compressed.ts';
import { decoderFor } from './decompress.ts';
import { badOption, corrupt, invalid, unsupported } from './failure.ts';
import type { Qcow2Header } from './header.ts';
import { Image } from './image.ts';
import { L1Table } from './l1.ts';
import { Mapping } from './mapping.ts';
import { MetadataAreas, refcountBlocks } from './metadata-areas.ts';
import { MetadataCache } from './metadata-cache.ts';
import type { Qcow2Options } from './options.ts';
import type { Parts } from './parts.ts';
import { prepareToWrite } from './prepare-to-write.ts';
import { readHeader } from './read-header.ts';
import { findSnapshot, readSnapshots } from './snapshots.ts';
import {
  checkSnapshotL1,
  checkTables,
  l1Table,
  readTable,
  refcountTable,
  snapshotL1Table,
  type Table,
} from './tables.ts';
import { Bitmaps } from './write/bitmap-store.ts';

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
    const writable = !context.common.readOnly;
    const file = await keep(context.openChild('file', options.file));
    const header = writable ? await prepareToWrite(file, options) : await readHeader(file);
    if (header.encryption) {
      throw unsupported(
        file,
        `it is encrypted (${header.encryption.toUpperCase()}), which is not supported; decrypt it by converting it`,
      );
    }
    const view = await openView(header, options.snapshot, file);
    const { l1, areas } = view;
    // A small file could have an endless search for a free cluster that way; and what is counted once, counts for both.
    if (writable && new Set(view.blocks).size < view.blocks.length)
      throw corrupt(file, 'two entries of the refcount table lead to the same block');
    const data = header.externalData ? await keep(openData(header, options.dataFile, file, context)) : file;
    if (!header.externalData && options.dataFile) {
      throw badOption(file, 'dataFile is given, and the image keeps its data in its own file');
    }
    const backing = await openBacking(header, options.backing, file, context, keep);
    const cache = new MetadataCache(
      'an L2 table',
      file,
      header.clusterSize,
      options.cacheSize ?? defaultCacheBytes,
    );
    const compressed = new CompressedClusters(file, header.clusterSize, decoderFor(header.compressionType));
    const image = writable
      ? new Image({
          ...{ file, data, header, l1, cache, areas, refcountTable: view.refcountTable },
          overlapCheck: options.overlapCheck ?? 'cached',
          passes: {
            request: options.passDiscardRequest ?? context.common.discard === 'unmap',
            snapshot: options.passDiscardSnapshot ?? true,
            other: options.passDiscardOther ?? false,
          },
        })
      : undefined;
    image?.watch(compressed);
    await image?.learnAreas();
    const bitmaps = view.snapshot ? undefined : new Bitmaps(file, header, image);
    if (image) await bitmaps?.open();
    return {
      ...{
        header,
        size: view.size,
        snapshot: view.snapshot,
        file,
        data,
        backing,
        cache,
        compressed,
        image,
        bitmaps,
      },
      mapping: new Mapping(header, l1, cache, areas, file, data),
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
    size = snapshot.diskSize;
    table = snapshotL1Table(snapshot);
    if (table.length > 0) {
      checkSnapshotL1(header, file, snapshot, tables);
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
  const counts = await readTable(file, refcountTable(header));
  const blocks = refcountBlocks(counts, header.clusterSize);
  const areas = new MetadataAreas(header.clusterSize, tables, blocks, l1);
  return { size, snapshot, l1, refcountTable: counts, blocks, areas };
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
  return context.gate.follow(
    { from: file, role: 'data-file', name, format: 'raw' },
    { readOnly: context.common.readOnly },
  );
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
