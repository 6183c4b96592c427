// Converts a real compressed qcow2 image and its backing file to raw, and checks the result against what the real
// qemu-img said of it. What a program would do with the packages, with more to read.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Disk, NodeDescription, Openable } from '@blockyard/core';
import pc from 'picocolors';
import { ensureBuilt, root } from './built.ts';

ensureBuilt('@blockyard/image-ops', '@blockyard/qcow2', '@blockyard/raw-posix');
const { BlockError, createRegistry } = await import('@blockyard/core');
const { checksum, convert } = await import('@blockyard/image-ops');
const { probe } = await import('@blockyard/native');
const { qcow2 } = await import('@blockyard/qcow2');
const { rawPosix } = await import('@blockyard/raw-posix');

// What a program is warned of by default, the demo says in its own words.
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'BlockyardNotice') console.error(warning);
});

interface ManifestEntry {
  name: string;
  about: string;
  tags: string[];
  content: { value: string };
}

const images = join(root, 'test-images');
const manifest = JSON.parse(readFileSync(join(images, 'manifest.json'), 'utf8')) as {
  images: ManifestEntry[];
};
const entry = manifest.images.find(({ tags }) => tags.includes('demo'));
if (!entry) throw new Error('test-images/manifest.json has no image with the tag demo');

const drivers = createRegistry([rawPosix(), qcow2()]);
const scratch = mkdtempSync(join(tmpdir(), 'blockyard-demo-'));
try {
  await main(entry, join(scratch, 'demo.raw'));
} finally {
  rmSync(scratch, { recursive: true });
}

async function main({ name, about, content }: ManifestEntry, target: string): Promise<void> {
  console.log(`\n  ${pc.bold(`${name} to raw`)}\n  ${pc.dim(about)}\n`);
  const file = (filename: string) => ({ driver: 'file', filename });
  const source = await open((cache) => ({
    driver: 'qcow2',
    readOnly: true,
    cache,
    file: file(join(images, name)),
  }));
  await createEmpty(target, source.size);
  const copy = await open((cache) => ({ driver: 'raw', cache, file: file(target) }));

  const graph = source.describe();
  section('Graph', drawGraph(graph));
  section('Engine', engine(copy.describe()));
  section('Limits', limits(copy));

  const started = performance.now();
  const result = await convert(source.node, copy.node, { targetIsZero: true, onProgress: bar });
  const took = performance.now() - started;
  await Promise.all([source.close(), copy.close()]);
  clearBar();
  section('Convert', [
    `${bytes(result.bytesRead)} read in ${result.requests.read} requests, ${bytes(sum(graph, fileSize))} of image files`,
    `${bytes(result.bytesZero)} of zeroes skipped without a read, ${bytes(result.bytesZeroDetected)} more found in what was read`,
    `${bytes(result.bytesWritten)} written in ${result.requests.write} requests; ${bytes(statSync(target).blocks * 512)} allocated`,
  ]);

  // Opened anew, past the page cache where that can be: what is hashed is what was stored.
  const stored = await open((cache) => ({ driver: 'raw', readOnly: true, cache, file: file(target) }));
  const { digest } = await checksum(stored.node);
  await stored.close();
  const verified = performance.now() - started - took;
  const same = digest === content.value;
  section('SHA-256', [
    digest,
    same ? pc.green('the same that qemu-img gives: verified') : pc.red(`expected ${content.value}`),
  ]);
  section('Time', [
    `${took.toFixed(0)} ms to convert ${bytes(result.size)} of disk, ${verified.toFixed(0)} ms to read it back and verify`,
  ]);
  console.log();
  if (!same) process.exitCode = 1;
}

/** Direct I/O where the file system does it, else through the page cache. */
async function open(tree: (cache: { direct: boolean }) => Openable): Promise<Disk> {
  const settings = { references: 'same-directory' } as const;
  try {
    return await drivers.open(tree({ direct: true }), settings);
  } catch (error) {
    if (
      !(error instanceof BlockError) ||
      !['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ERR_NOT_SUPPORTED'].includes(error.code)
    )
      throw error;
    return await drivers.open(tree({ direct: false }), settings);
  }
}

async function createEmpty(filename: string, size: number): Promise<void> {
  await drivers.drivers.get('file')?.createFile?.({ filename }, { size, exclusive: true });
}

function drawGraph(node: NodeDescription, role = '', indent = '', branch = ''): string[] {
  const children = Object.entries(node.children);
  const where = children.length === 0 && node.path ? ` ${basename(node.path)}` : '';
  const label = `${role ? `${role}: ` : ''}${pc.cyan(node.driver)}${where}  ${pc.dim(bytes(node.size))}`;
  const below = branch === '' ? '' : branch === '└─ ' ? `${indent}   ` : `${indent}│  `;
  const lines = children.flatMap(([name, child], index) =>
    drawGraph(child, name, below, index === children.length - 1 ? '└─ ' : '├─ '),
  );
  return [`${indent}${branch}${label}`, ...lines];
}

function engine(copy: NodeDescription): string[] {
  const { aio, direct, host } = copy.children.file?.options ?? {};
  const machine = probe();
  const others = Object.entries(machine.engines).flatMap(([name, { available, reason }]) =>
    available || !machine.loaded ? [] : [pc.dim(`${name}: ${reason}`)],
  );
  const how = direct ? 'direct, past the page cache' : 'through the page cache';
  const why = machine.loaded ? [] : [pc.dim(`the native engines are not there: ${machine.reason}`)];
  return [`${String(aio)}${host === 'node:fs' ? ' of node:fs' : ''}, ${how}`, ...why, ...others];
}

function limits(disk: Disk): string[] {
  const found = disk.describe().children.file?.limits ?? disk.limits;
  return [
    `requests in multiples of ${bytes(found.requestAlignment)}, memory aligned to ${bytes(found.minMemAlignment)} (best: ${bytes(found.optMemAlignment)})`,
    `${found.maxTransfer === 0 ? 'no limit on bytes' : `at most ${bytes(found.maxTransfer)}`}, at most ${found.maxIov} buffers a request`,
  ];
}

function fileSize(node: NodeDescription): number {
  return node.driver === 'file' ? node.size : 0;
}

function sum(node: NodeDescription, of: (node: NodeDescription) => number): number {
  return Object.values(node.children).reduce((total, child) => total + sum(child, of), of(node));
}

function bytes(count: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = count === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  const text = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  return power === 0 && count === 1 ? '1 byte' : `${text} ${units[power]}`;
}

function section(title: string, lines: readonly string[]): void {
  for (const [index, line] of lines.entries())
    console.log(`  ${pc.bold((index === 0 ? title : '').padEnd(9))} ${line}`);
}

function bar({ done, total }: { done: number; total: number }): void {
  if (!process.stdout.isTTY) return;
  const filled = Math.round((done / total) * 40);
  process.stdout.write(
    `\r  ${'█'.repeat(filled)}${'░'.repeat(40 - filled)} ${Math.round((done / total) * 100)} %`,
  );
}

function clearBar(): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
}
