import { markAsUntransferable } from 'node:worker_threads';
import { binding } from './binding.ts';
import { checkRoom } from './room.ts';

/** What is known of one ArrayBuffer. It does not move, so its address is asked once. */
export interface Arena {
  /** The number by which native knows it, or -1: its address is taken anew for each request. */
  readonly id: number;
  readonly address: number;
}

const arenas = new WeakMap<ArrayBufferLike, Arena>();
const forgotten = new FinalizationRegistry<number>((id) => binding?.unregisterBuffer(id));

/** A slab of our own, registered. It cannot be transferred, so the address that native holds stays true. */
export function createSlab(bytes: number): { buffer: ArrayBuffer; address: number; id: number } {
  const native = binding as NonNullable<typeof binding>;
  checkRoom(bytes);
  const buffer = new ArrayBuffer(bytes);
  markAsUntransferable(buffer);
  const whole = new Uint8Array(buffer);
  const address = native.address(whole);
  const id = native.registerBuffer(whole);
  arenas.set(buffer, { id, address });
  forgotten.register(buffer, id);
  return { buffer, address, id };
}

/** The number of a registered buffer, or -1. */
export function arenaId(buffer: ArrayBufferLike): number {
  return arenas.get(buffer)?.id ?? -1;
}

/** The address of a view's first byte. */
export function addressOf(view: Uint8Array): number {
  let arena = arenas.get(view.buffer);
  if (arena === undefined) {
    const native = binding as NonNullable<typeof binding>;
    // Asked of a view on the whole, so that every view of it is served by one answer.
    arena = { id: -1, address: native.address(new Uint8Array(view.buffer)) };
    arenas.set(view.buffer, arena);
  }
  return arena.address + view.byteOffset;
}
