import type { Kit } from './kit.ts';

/** One image of the collection. */
export interface Recipe {
  /** The file to open. */
  name: string;
  about: string;
  tags: string[];
  /** Backing and data files that belong to it, in the order they are reached. */
  with?: string[];
  /** Opens it, when it needs a passphrase. */
  passphrase?: string;
  make(kit: Kit): void;
}
