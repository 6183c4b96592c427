export type { IoData, IoVector } from '@blockyard/iov-utils';
export { BlockNode } from './block-node.ts';
export type { ImageCreation } from './create.ts';
export { describeNode, type NodeDescription } from './describe.ts';
export { Disk } from './disk.ts';
export type {
  AmendOptions,
  BlockDriver,
  ChildOptions,
  CreateContext,
  CreateOptions,
  ImageInformation,
  Located,
  Location,
  MeasuredData,
  MeasuredSizes,
  NodeOptions,
  OpenContext,
  Reference,
  SnapshotInformation,
} from './driver.ts';
export { type MemoryOptions, memory } from './drivers/memory.ts';
export { type NullOptions, nullDriver } from './drivers/null.ts';
export { PassThroughNode, type PassThroughOptions, passThrough } from './drivers/pass-through.ts';
export { type RawOptions, raw } from './drivers/raw.ts';
export {
  BlockError,
  type BlockErrorCode,
  type BlockErrorDetails,
  type BlockErrorKind,
  errorKinds,
  systemError,
} from './errors.ts';
export { continues, type Extent } from './extent.ts';
export { foreignFormat } from './foreign.ts';
export { type Gate, maxChainDepth, protocolNode, type ReferencePolicy } from './gate.ts';
export type {
  BitmapInformation,
  BitmapStore,
  CheckOptions,
  CheckResult,
  ImageFeatures,
  SnapshotCreation,
  SnapshotStore,
} from './image-features.ts';
export * from './limits.ts';
export { type Memory, portableMemory } from './memory.ts';
export type { NodeInit, Operation, RequestEvent } from './node-init.ts';
export { type CommonOptions, commonOptions, type OptionSpec, type OptionSpecs } from './options/spec.ts';
export { checkOptions } from './options/validate.ts';
export { probeBytes, probeFormat, probeHead, readHead } from './probe.ts';
export { createRegistry, type Openable, type OpenSettings, Registry } from './registry.ts';
export { alignDown, alignUp, isAlignedTo } from './request/align.ts';
export type {
  MaybePromise,
  ReadOptions,
  RequestOptions,
  TruncateOptions,
  WriteOptions,
  ZeroOptions,
} from './request/options.ts';
export { inParallel } from './request/parallel.ts';
export { NodeStats } from './stats.ts';
export type { StreamRange } from './streams.ts';
export { readOnlySupports, type Supports } from './supports.ts';
