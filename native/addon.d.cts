/** The compiled part, or undefined: `reason` says why. All but `findNonZero` is internal to @blockyard/native. */
export declare const binding:
  | {
      /** Index of the first byte that is not zero, or -1. */
      findNonZero(view: Uint8Array): number;
    }
  | undefined;
export declare const reason: string | undefined;
