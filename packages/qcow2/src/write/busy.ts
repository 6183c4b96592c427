/** Clusters of the disk of which one request is changing the place. */
export interface Reserved {
  first: number;
  end: number;
  done: Promise<void> | undefined;
  settle: (() => void) | undefined;
}

/** Who wants to change the place of a cluster waits for who is changing it, and for nobody else. */
export class Busy {
  readonly #reserved: Reserved[] = [];

  /** The clusters must be free. */
  reserve(first: number, end: number): Reserved {
    const reserved: Reserved = { first, end, done: undefined, settle: undefined };
    this.#reserved.push(reserved);
    return reserved;
  }

  release(reserved: Reserved): void {
    const last = this.#reserved.pop() as Reserved;
    if (last !== reserved) this.#reserved[this.#reserved.indexOf(reserved)] = last;
    reserved.settle?.();
  }

  /** How many of the clusters from `first` on are free, up to `end`. */
  free(first: number, end: number): number {
    let limit = end;
    for (const one of this.#reserved)
      if (one.first < limit && one.end > first) limit = Math.max(first, one.first);
    return limit - first;
  }

  /** Resolves when who has the cluster has done with it; ask again then. */
  wait(cluster: number): Promise<void> {
    const one = this.#reserved.find(({ first, end }) => first <= cluster && cluster < end);
    if (!one) return Promise.resolve();
    one.done ??= new Promise((resolve) => {
      one.settle = resolve;
    });
    return one.done;
  }
}
