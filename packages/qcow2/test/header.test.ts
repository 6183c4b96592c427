import { describe, expect, it } from 'vitest';
import { parseHeader, qcow2, readHeader } from '../src/index.ts';
import { Encoder, field, patched } from './support/encode.ts';
import { ImageBuilder } from './support/image-builder.ts';
import { inMemory, openNode, registry } from './support/open.ts';

const image = new ImageBuilder({ size: 1 << 20 }).build();
const clusters = image.length / 65536;

async function code(bytes: Uint8Array): Promise<string> {
  try {
    const node = await openNode(bytes);
    await node.read(0, new Uint8Array(Math.min(node.size, 1 << 20)));
    await node.close();
    return 'opened';
  } catch (error) {
    expect(error).toMatchObject({ name: 'BlockError' });
    return (error as { code: string }).code;
  }
}

describe('the header', () => {
  it.each([
    ['magic', field.magic, 0, 4, 'ERR_INVALID_IMAGE'],
    ['version 0', field.version, 0, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['version 1', field.version, 1, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['version 4', field.version, 4, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['cluster_bits 0', field.clusterBits, 0, 4, 'ERR_INVALID_IMAGE'],
    ['cluster_bits 8', field.clusterBits, 8, 4, 'ERR_INVALID_IMAGE'],
    ['cluster_bits 22', field.clusterBits, 22, 4, 'ERR_INVALID_IMAGE'],
    ['cluster_bits 63', field.clusterBits, 63, 4, 'ERR_INVALID_IMAGE'],
    ['cluster_bits max', field.clusterBits, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['size above 2^53', field.size, 2n ** 53n, 8, 'EFBIG'],
    ['size with the sign bit', field.size, 2n ** 63n, 8, 'EFBIG'],
    ['size max', field.size, -1n, 8, 'EFBIG'],
    ['size above what L1 covers', field.size, 2n ** 40n, 8, 'ERR_INVALID_IMAGE'],
    ['size 2^53 - 1', field.size, 2n ** 53n - 1n, 8, 'ERR_INVALID_IMAGE'],
    ['encryption AES', field.cryptMethod, 1, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['encryption LUKS', field.cryptMethod, 2, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['encryption 3', field.cryptMethod, 3, 4, 'ERR_UNSUPPORTED_FEATURE'],
    ['l1_size 0', field.l1Size, 0, 4, 'ERR_INVALID_IMAGE'],
    ['l1_size past the file', field.l1Size, 1 << 17, 4, 'ERR_IMAGE_TRUNCATED'],
    ['l1_size max', field.l1Size, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['l1_table_offset 0', field.l1Offset, 0, 8, 'ERR_INVALID_IMAGE'],
    ['l1_table_offset 1', field.l1Offset, 1, 8, 'ERR_INVALID_IMAGE'],
    ['l1_table_offset past the end', field.l1Offset, 65536 * clusters, 8, 'ERR_IMAGE_TRUNCATED'],
    ['l1_table_offset max', field.l1Offset, -1n, 8, 'EFBIG'],
    ['refcount table offset 0', field.refcountTableOffset, 0, 8, 'ERR_INVALID_IMAGE'],
    ['refcount table misaligned', field.refcountTableOffset, 512, 8, 'ERR_INVALID_IMAGE'],
    ['refcount table over L1', field.refcountTableOffset, 65536, 8, 'ERR_INVALID_IMAGE'],
    ['refcount table past the end', field.refcountTableOffset, 2n ** 40n, 8, 'ERR_IMAGE_TRUNCATED'],
    ['no refcount table', field.refcountTableClusters, 0, 4, 'ERR_INVALID_IMAGE'],
    ['refcount table too large', field.refcountTableClusters, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['refcount table larger than the file', field.refcountTableClusters, 100, 4, 'ERR_IMAGE_TRUNCATED'],
    ['snapshots that are not there', field.snapshotCount, 1, 4, 'ERR_INVALID_IMAGE'],
    ['too many snapshots', field.snapshotCount, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['refcount_order 7', field.refcountOrder, 7, 4, 'ERR_INVALID_IMAGE'],
    ['refcount_order max', field.refcountOrder, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['header_length 0', field.headerLength, 0, 4, 'ERR_INVALID_IMAGE'],
    ['header_length 103', field.headerLength, 103, 4, 'ERR_INVALID_IMAGE'],
    ['header_length 105', field.headerLength, 105, 4, 'ERR_INVALID_IMAGE'],
    ['header_length above a cluster', field.headerLength, 65544, 4, 'ERR_INVALID_IMAGE'],
    ['header_length max', field.headerLength, 0xffffffff, 4, 'ERR_INVALID_IMAGE'],
    ['compression type without its bit', field.compressionType, 1, 1, 'ERR_INVALID_IMAGE'],
    ['compression type 2', field.compressionType, 2, 1, 'ERR_UNSUPPORTED_FEATURE'],
    ['compression bit without a type', field.incompatible, 8n, 8, 'ERR_INVALID_IMAGE'],
    ['unknown incompatible bits', field.incompatible, 2n ** 63n, 8, 'ERR_UNSUPPORTED_FEATURE'],
    ['backing name past the cluster', field.backingOffset, 65530, 8, 'opened'],
    ['backing name outside', field.backingOffset, 65537, 8, 'ERR_INVALID_IMAGE'],
    ['backing name over the header', field.backingOffset, 8, 8, 'ERR_INVALID_IMAGE'],
    ['backing name offset max', field.backingOffset, -1n, 8, 'EFBIG'],
    ['dirty', field.incompatible, 1n, 8, 'opened'],
    ['corrupt', field.incompatible, 2n, 8, 'opened'],
    ['unknown compatible bits', field.compatible, -1n, 8, 'opened'],
    ['unknown autoclear bits', field.autoclear, -4n, 8, 'opened'],
    ['nothing changed', field.version, 3, 4, 'opened'],
  ] as const)('%s', async (_name, at, value, size, expected) => {
    expect(await code(patched(image, at, value, size))).toBe(expected);
  });

  it("names unknown features by the image's own table", async () => {
    const name = (kind: number, bit: number, text: string) =>
      new Encoder().u8(kind).u8(bit).text(text).pad(48).done();
    const data = new Encoder()
      .bytes(name(1, 40, 'harmless'))
      .bytes(name(0, 40, 'time travel'))
      .done();
    const made = new ImageBuilder({
      incompatible: (1n << 40n) | (1n << 41n),
      extensions: [{ type: 0x6803f857, data }],
    }).build();
    await expect(openNode(made)).rejects.toThrow(/'time travel' \(bit 40\), bit 41/);
    await expect(registry.inspect({ driver: 'qcow2', file: inMemory(made) })).rejects.toThrow(/time travel/);
  });

  it.each([0, 1, 71, 72, 103, 104, 111])('a file of %i bytes is refused', async (length) => {
    expect(await code(image.slice(0, length))).toBe('ERR_INVALID_IMAGE');
  });

  it('an extension longer than what is left is refused', async () => {
    for (const length of [65536, 0x7fffffff, 0xffffffff, 0xfffffff9]) {
      const made = image.slice();
      new DataView(made.buffer).setUint32(112, 0x12345678);
      new DataView(made.buffer).setUint32(116, length);
      expect(await code(made)).toBe('ERR_INVALID_IMAGE');
    }
  });

  it('keeps and lists unknown extensions and the fields of a longer header', async () => {
    const data = Uint8Array.of(1, 2, 3);
    const made = new ImageBuilder({ headerLength: 160, extensions: [{ type: 0xabcdef01, data }] }).build();
    const file = await registry.openNode({ driver: 'memory', data: made });
    const header = await readHeader(file);
    expect(header.headerLength).toBe(160);
    expect(header.extensions).toEqual([{ type: 0xabcdef01, name: undefined, offset: 168, data }]);
    expect(parseHeader(made)).toMatchObject({
      version: 3,
      clusterSize: 65536,
      refcountBits: 16,
      size: 1 << 20,
      backingFile: undefined,
    });
    await file.close();
  });

  it('is recognised by probing', () => {
    const { probe } = qcow2();
    expect(probe?.(image)).toBe(100);
    expect(probe?.(patched(image, field.version, 2, 4))).toBe(100);
    expect(probe?.(patched(image, field.version, 1, 4))).toBe(0);
    expect(probe?.(image.subarray(0, 7))).toBe(100);
    expect(probe?.(image.subarray(0, 3))).toBe(0);
    expect(probe?.(new Uint8Array(512))).toBe(0);
  });
});
