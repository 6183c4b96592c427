import { readFileSync } from 'node:fs';
import { cliRegistry } from '../../src/registry.ts';
import { run } from './run.ts';

/** Fields of a qcow2 header, as they are on disk. */
export function header(path: string) {
  const view = new DataView(new Uint8Array(readFileSync(path).subarray(0, 112)).buffer);
  return {
    version: view.getUint32(4),
    clusterSize: 2 ** view.getUint32(20),
    size: Number(view.getBigUint64(24)),
    snapshots: view.getUint32(60),
    incompatible: Number(view.getBigUint64(72)),
    compatible: Number(view.getBigUint64(80)),
    refcountBits: 2 ** view.getUint32(96),
  };
}

/** Runs a command that must succeed, and gives what it printed. */
export async function done(...argv: string[]): Promise<string> {
  const { code, out, err } = await run(argv);
  if (code !== 0) throw new Error(`blockyard ${argv.join(' ')} ended with ${code}: ${err}`);
  return out;
}

/** The SHA-256 of what a guest sees. */
export async function digest(image: string, ...flags: string[]): Promise<string> {
  return JSON.parse(await done('checksum', '--json', ...flags, image)).digest;
}

/** What `info` says of an image. */
export async function told(image: string): Promise<Record<string, unknown>> {
  return JSON.parse(await done('info', '--json', image));
}

/** Writes as a guest would. */
export async function poke(image: string, format: string, offset: number, bytes: Uint8Array): Promise<void> {
  const file = { driver: 'file', filename: image };
  const node = await cliRegistry().openNode({ driver: format, file } as never, {
    references: 'same-directory',
  });
  try {
    await node.write(offset, bytes);
  } finally {
    await node.close();
  }
}
