import type { RequestOptions, SnapshotCreation, SnapshotInformation, SnapshotStore } from '@blockyard/core';
import type { Image } from '../image.ts';
import { readSnapshots, type Snapshot } from '../snapshots.ts';
import { applySnapshot } from './snapshot-apply.ts';
import { createSnapshot } from './snapshot-create.ts';
import { deleteSnapshot } from './snapshot-delete.ts';

/** Internal snapshots of an image that is open for writing. */
export class Snapshots implements SnapshotStore {
  readonly #image: Image;

  constructor(image: Image) {
    this.#image = image;
  }

  async list(): Promise<readonly SnapshotInformation[]> {
    const found = await this.#image.request(() => readSnapshots(this.#image.header, this.#image.file));
    return found.map(told);
  }

  async create(name: string, options: SnapshotCreation = {}): Promise<SnapshotInformation> {
    return told(await createSnapshot(this.#image, name, options));
  }

  apply(idOrName: string, options: RequestOptions = {}): Promise<void> {
    return applySnapshot(this.#image, idOrName, options);
  }

  delete(idOrName: string, options: RequestOptions = {}): Promise<void> {
    return deleteSnapshot(this.#image, idOrName, options);
  }
}

const told = ({ l1Size, l1TableOffset, ...information }: Snapshot): SnapshotInformation => information;
