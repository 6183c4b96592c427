/** Scattered memory, in order: the shape that `fs.readv` takes. */
export type IoVector = readonly Uint8Array[];

/** A request's memory: a single buffer (the cheap case) or a vector. */
export type IoData = Uint8Array | IoVector;
