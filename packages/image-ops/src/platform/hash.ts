/** A digest in the making. `update` has read the bytes when it returns. */
export interface Hash {
  update(bytes: Uint8Array): void;
  /** Hexadecimal. Once. */
  digest(): string;
}
