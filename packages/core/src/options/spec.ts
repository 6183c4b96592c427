/** One option of a driver, as data: what validates it also documents it and reads it from a command line. */
export type OptionSpec =
  | { readonly type: 'string'; readonly required?: true; readonly help: string }
  | { readonly type: 'boolean'; readonly help: string }
  /** A byte count or number; suffixes k, M, G, T, P, E are read from a command line. */
  | { readonly type: 'size'; readonly required?: true; readonly help: string }
  | {
      readonly type: 'enum';
      readonly values: readonly string[];
      readonly required?: true;
      readonly help: string;
    }
  | { readonly type: 'object'; readonly fields: OptionSpecs; readonly help: string }
  /** A child node: options of its own driver, an open node, or a name. */
  | { readonly type: 'node'; readonly required?: true; readonly nullable?: true; readonly help: string }
  /** Anything: passed on as it is (a function, bytes); only programs can give it. */
  | { readonly type: 'any'; readonly required?: true; readonly help: string };

export type OptionSpecs = { readonly [name: string]: OptionSpec };

/** Options that every driver takes; a node passes `cache` and `readOnly` on to its `file` child. */
export const commonOptions = {
  nodeName: { type: 'string', help: 'name of the node in errors, counters and describe()' },
  readOnly: { type: 'boolean', help: 'refuse writes (default false)' },
  discard: { type: 'enum', values: ['ignore', 'unmap'], help: 'what a discard does (default ignore)' },
  detectZeroes: {
    type: 'enum',
    values: ['off', 'on', 'unmap'],
    help: 'turn writes of zeroes into write-zeroes (default off); unmap needs discard: unmap',
  },
  cache: {
    type: 'object',
    help: 'host cache',
    fields: {
      direct: { type: 'boolean', help: 'bypass the page cache (O_DIRECT)' },
      noFlush: { type: 'boolean', help: 'ignore flushes: data is lost in a crash' },
    },
  },
} as const satisfies OptionSpecs;

/** The common options, as a program writes them. */
export interface CommonOptions {
  nodeName?: string;
  readOnly?: boolean;
  discard?: 'ignore' | 'unmap';
  detectZeroes?: 'off' | 'on' | 'unmap';
  cache?: { direct?: boolean; noFlush?: boolean };
}
