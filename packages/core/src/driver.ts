import type { BlockNode } from './block-node.ts';
import type { Gate } from './gate.ts';
import type { CheckOptions, CheckResult } from './image-features.ts';
import type { CommonOptions, OptionSpecs } from './options/spec.ts';
import type { Registry } from './registry.ts';

/** Options of one node: its driver's name, the driver's own options, and the common ones. */
export interface NodeOptions extends CommonOptions {
  driver: string;
  [option: string]: unknown;
}

/** A child in an options tree: options, or a node that is open already (it is then shared, not owned). */
export type ChildOptions = NodeOptions | BlockNode;

/** What a driver is given to open a node with. */
export interface OpenContext {
  readonly registry: Registry;
  /** Follows, or refuses to, names found inside the image. */
  readonly gate: Gate;
  readonly signal?: AbortSignal | undefined;
  /** Where in the options tree this node stands: 'file', 'backing.file', '' at the root. For error messages. */
  readonly path: string;
  /** The common options with inheritance applied. */
  readonly common: Required<Omit<CommonOptions, 'nodeName' | 'cache'>> & {
    readonly nodeName: string | undefined;
    readonly cache: { readonly direct: boolean; readonly noFlush: boolean };
  };
  /**
   * Opens the child given by the option `role`. Missing `readOnly`, `cache` are inherited; a `file` or `data-file`
   * child of a format gets `discard: 'unmap'`, since the format decides; `backing` children are read-only.
   */
  openChild(role: string, options: unknown, overrides?: { readOnly?: boolean }): Promise<BlockNode>;
}

/** A name found inside an image. */
export interface Reference {
  /** The node whose image holds the name: the format node's `file` child. */
  readonly from: BlockNode;
  readonly role: 'backing' | 'data-file';
  readonly name: string;
  /** Driver name, where the image records one; undefined when it does not. */
  readonly format: string | undefined;
}

/** Where a protocol node's bytes are. */
export interface Location {
  /** Real directory, links resolved; undefined for what has none (URLs). */
  directory?: string | undefined;
  /** Equal for two names of the same file or device. */
  identity?: string | undefined;
}

/** Where a reference leads, as the protocol driver sees it. */
export interface Located {
  options: NodeOptions;
  location: Location;
}

/** What reading an image's own metadata tells, without opening anything that it names. */
export interface ImageInformation {
  format: string;
  virtualSize: number;
  clusterSize?: number | undefined;
  encrypted?: boolean | undefined;
  compressed?: boolean | undefined;
  dirty?: boolean | undefined;
  backingFile?: string | undefined;
  backingFormat?: string | undefined;
  dataFile?: string | undefined;
  snapshots?: readonly SnapshotInformation[] | undefined;
  /** Whatever is particular to the format, in the names of `qemu-img info --output=json`. */
  formatSpecific?: Record<string, unknown> | undefined;
}

export interface SnapshotInformation {
  id: string;
  name: string;
  vmStateSize: number;
  dateSec: number;
  dateNsec: number;
  vmClockNsec: number;
  /** Instruction count, where recorded. */
  icount?: number | undefined;
  /** Bytes of the disk when the snapshot was taken. */
  diskSize: number;
}

export interface CreateOptions {
  size: number;
  [option: string]: unknown;
}

export interface CreateContext {
  readonly registry: Registry;
  readonly signal?: AbortSignal | undefined;
  /** Makes the file that `name` stands for as seen from the new image, and opens it for writing. */
  createFile(name: string, size: number, preallocation?: string): Promise<BlockNode>;
}

/** What a new image is to hold, in bytes of whole clusters (of `clusterSize`) that have data. */
export interface MeasuredData {
  /** Called once with the cluster size in force. Counts the bytes of clusters that would be allocated. */
  allocated(clusterSize: number): number;
  /** Bytes that the persistent bitmaps to be copied take, where there are some. */
  bitmaps?: number | undefined;
}

export interface MeasuredSizes {
  required: number;
  fullyAllocated: number;
  bitmaps?: number | undefined;
}

export interface AmendOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
}

/** What a driver package's factory returns: a plain object. */
export interface BlockDriver<O extends object = object> {
  readonly name: string;
  readonly kind: 'protocol' | 'format' | 'filter';
  /** One line for people. */
  readonly help: string;
  /** Options besides the common ones. */
  readonly options: OptionSpecs;
  /** URL schemes of a protocol driver, without the colon. */
  readonly schemes?: readonly string[];
  /** How sure a format is that an image beginning with these bytes is its own: 0 not ... 100 surely. */
  probe?(head: Uint8Array): number;
  /** `options` are validated against the specs; opens the children it needs through the context. */
  open(options: O, context: OpenContext): Promise<BlockNode>;
  /** Protocol drivers: from a name or URL to options. */
  parseName?(name: string): NodeOptions;
  /** Protocol drivers: resolves a name found in the image that `from` holds. */
  locate?(name: string, from: BlockNode): Promise<Located>;
  /** Format drivers: the metadata of the image in `file`, opening nothing that it names. */
  inspect?(file: BlockNode): Promise<ImageInformation>;
  /** Format drivers: what `create` takes besides `size` and `preallocation`. */
  readonly createOptions?: OptionSpecs;
  /** Format drivers: makes a new image in `target`, an empty file; whatever else it needs it makes through the context. */
  create?(target: BlockNode, options: CreateOptions, context: CreateContext): Promise<void>;
  /** Format drivers: the bytes that a new image with these options has, empty of data and with all of it. */
  measure?(options: CreateOptions, data: MeasuredData): MeasuredSizes;
  /** Format drivers: whether the metadata of the image in `file` is sound; opens nothing that it names. */
  check?(file: BlockNode, options?: CheckOptions): Promise<CheckResult>;
  /** Format drivers: what `amend` takes. */
  readonly amendOptions?: OptionSpecs;
  /** Format drivers: changes options of the image in `file`, which nothing else has open. */
  amend?(file: BlockNode, options: Record<string, unknown>, work?: AmendOptions): Promise<void>;
  /** Protocol drivers: what `name` stands for when it is said beside the file of these options. It need not exist. */
  sibling?(name: string, of: O): NodeOptions;
  /** Protocol drivers: makes the file, device contents or object that the options name; fails if it exists and `exclusive`. */
  createFile?(
    options: O,
    create: { size: number; exclusive?: boolean; preallocation?: string },
  ): Promise<void>;
  /** Protocol drivers: removes what `createFile` made, when what was to be in it could not be finished. */
  removeFile?(options: O): Promise<void>;
}
