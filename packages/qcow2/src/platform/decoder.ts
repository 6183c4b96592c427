/**
 * Decodes what is at the start of `input`, ignoring what follows its end, into at most `length` bytes. Rejects with
 * any error when the input is damaged, ends early, or decodes to more. With `into`, memory of just `length` bytes, a
 * decoder that can write anywhere writes there, and returns `into` itself when it is full; another ignores it.
 */
export type Decoder = (input: Uint8Array, length: number, into?: Uint8Array) => Promise<Uint8Array>;
