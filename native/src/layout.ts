// The mirror of addon/ring.h: word (32-bit) indices in the memory shared with native.

/** Requests in flight at most; more wait in JavaScript. A power of two. */
export const SLOTS = 1024;
export const MASK = SLOTS - 1;

export const SQ_TAIL = 0;
export const CQ_HEAD = 32;
export const CQ_TAIL = 48;
export const REFERENCED = 64;
export const SQ_RING = 80;
export const CQ_RING = SQ_RING + SLOTS;
export const SLOT_TABLE = CQ_RING + 2 * SLOTS;
export const SLOT_WORDS = 8;
export const SHARED_BYTES = 4 * (SLOT_TABLE + SLOTS * SLOT_WORDS);

export const OP_READ = 1;
export const OP_WRITE = 2;
export const OP_SYNC = 3;
