import { protocolNode } from '@blockyard/core';
import { images, unpack } from '@blockyard/test-images';
import { expect, it } from 'vitest';
import { openSource } from '../src/open/source.ts';
import { cliRegistry } from '../src/registry.ts';
import { Terminal } from '../src/terminal.ts';
import { scratch } from './support/scratch.ts';

const { directory } = scratch();
const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {} };

it('-T none holds for the images behind an overlay and for data files', async () => {
  const terminal = new Terminal(streams, () => new AbortController().signal);
  for (const name of ['over-qcow2.qcow2', 'over-raw.qcow2', 'data-file.qcow2']) {
    const entry = images().find((image) => image.name === name);
    if (!entry) throw new Error(`no image ${name}`);
    const path = unpack(entry, directory);
    for (const cache of ['none', 'writeback']) {
      const node = await openSource(path, cliRegistry(), { cache }, terminal);
      try {
        const all = Object.values(node.children).map((child) => protocolNode(child).common.cache.direct);
        expect([name, ...new Set(all)]).toEqual([name, cache === 'none']);
      } finally {
        await node.close();
      }
    }
  }
});
