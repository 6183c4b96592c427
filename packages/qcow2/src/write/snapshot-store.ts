import type { RequestOptions, SnapshotCreation, SnapshotInformation, SnapshotStore } from '@blockyard/core';
import type { Image } from '../image.ts';
import { readSnapshots, type Snapshot } from '../snapshots.ts';
import type { Bitmaps } from './bitmap-store.ts';
import { applySnapshot } from './snapshot-apply.ts';
import { createSnapshot } from './snapshot-create.ts';
import { deleteSnapshot } from './snapshot-delete.ts';

/** Internal snapshots of an image that is open for writing. */
export class Snapshots implements SnapshotStore {
  readonly #image: Image;
  readonly #bitmaps: Bitmaps;

  constructor(image: Image, bitmaps: Bitmaps) {
    this.#image = image;
    this.#bitmaps = bitmaps;
  }

  async list(): Promise<readonly SnapshotInformation[]> {
    const found = await this.#image.request(() => readSnapshots(this.#image.header, this.#image.file));
    return found.map(told);
  }

  async create(name: string, options: SnapshotCreation = {}): Promise<SnapshotInformation> {
    return told(await createSnapshot(this.#image, name, options));
  }

  async apply(idOrName: string, options: RequestOptions = {}): Promise<void> {
    // Whether there are any is told by the header then.
    await this.#bitmaps.store();
    await applySnapshot(this.#image, idOrName, options);
  }

  delete(idOrName: string, options: RequestOptions = {}): Promise<void> {
    return deleteSnapshot(this.#image, idOrName, options);
  }
}

const told = ({ l1Size, l1TableOffset, ...information }: Snapshot): SnapshotInformation => information;
