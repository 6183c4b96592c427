import {
  type BlockDriver,
  type BlockLimits,
  BlockNode,
  type ChildOptions,
  type IoData,
  type MaybePromise,
  type OpenContext,
  readOnlySupports,
} from '@blockyard/core';
import { byteLength, copyFrom, copyTo } from '@blockyard/iov-utils';

/** Named files without a file system: `/dir/name` to bytes. Symbolic links are strings. */
export type Store = Map<string, Uint8Array | string>;

const real = (store: Store, name: string): string => {
  const entry = store.get(name);
  return typeof entry === 'string' ? real(store, entry) : name;
};
const directoryOf = (name: string) => name.slice(0, name.lastIndexOf('/')) || '/';

class StoreNode extends BlockNode {
  constructor(
    context: OpenContext,
    readonly bytes: Uint8Array,
    path: string,
  ) {
    super({
      driver: { name: 'file', kind: 'protocol' },
      context,
      supports: { ...readOnlySupports, write: true },
      path,
      location: { directory: directoryOf(path), identity: path },
    });
  }
  get size(): number {
    return this.bytes.byteLength;
  }
  protected override _read(offset: number, into: IoData): void {
    copyFrom(into, this.bytes, 0, offset, byteLength(into));
  }
  protected override _write(offset: number, from: IoData): void {
    copyTo(from, this.bytes, 0, offset, byteLength(from));
  }
  protected override _flush(): void {}
  protected override _refreshLimits(limits: BlockLimits): void {
    limits.minMemAlignment = 1;
  }
}

/** A protocol driver named 'file' over a store, which records what was opened. */
export function storeDriver(store: Store, opened: string[] = []): BlockDriver<{ filename: string }> {
  return {
    name: 'file',
    kind: 'protocol',
    help: 'files in memory',
    schemes: ['file'],
    options: { filename: { type: 'string', required: true, help: 'name' } },
    parseName: (filename) => ({ driver: 'file', filename }),
    async locate(name, from) {
      const path = real(store, name.startsWith('/') ? name : `${from.location.directory}/${name}`);
      if (!store.has(path)) throw Object.assign(new Error(`no such file ${path}`), { code: 'ENOENT' });
      return {
        options: { driver: 'file', filename: path },
        location: { directory: directoryOf(path), identity: path },
      };
    },
    async createFile({ filename }, { size, exclusive }) {
      if (exclusive && store.has(filename))
        throw Object.assign(new Error(`${filename} exists`), { code: 'EEXIST' });
      store.set(filename, new Uint8Array(size));
    },
    async open({ filename }, context) {
      opened.push(filename);
      const path = real(store, filename);
      return new StoreNode(context, store.get(path) as Uint8Array, path);
    },
  };
}

class LinkNode extends BlockNode {
  constructor(
    context: OpenContext,
    readonly file: BlockNode,
    readonly backing: BlockNode | undefined,
  ) {
    super({
      driver: { name: 'link', kind: 'format' },
      context,
      supports: readOnlySupports,
      children: { file, ...(backing ? { backing } : {}) },
    });
  }
  get size(): number {
    return this.backing?.size ?? this.file.size;
  }
  protected override _read(offset: number, into: IoData): MaybePromise<void> {
    return (this.backing ?? this.file).read(offset, into);
  }
}

/** A format whose image is the text "LINK name format": everything else is behind it. */
export function linkFormat(): BlockDriver<{ file: ChildOptions }> {
  const text = (head: Uint8Array) => new TextDecoder().decode(head);
  return {
    name: 'link',
    kind: 'format',
    help: 'a name',
    options: { file: { type: 'node', required: true, help: 'image' } },
    probe: (head) => (text(head).startsWith('LINK ') ? 100 : 0),
    async open(options, context) {
      const file = await context.openChild('file', options.file);
      const bytes = new Uint8Array(file.size);
      await file.read(0, bytes);
      const [, name = '', format] = text(bytes).split(' ');
      try {
        return new LinkNode(
          context,
          file,
          await context.gate.follow({ from: file, role: 'backing', name, format }),
        );
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    inspect: async (file) => ({ format: 'link', virtualSize: file.size }),
  };
}

export const link = (name: string, format?: string): Uint8Array =>
  new TextEncoder().encode(format ? `LINK ${name} ${format}` : `LINK ${name}`);
