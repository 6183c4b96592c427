const mostFindings = 1000;

/** The numbers and sentences of one pass over an image. */
export class Report {
  corruptions = 0;
  /** Of `corruptions`: entries whose copied flag contradicts the refcount, which is put right without risk. */
  flagErrors = 0;
  /** Of `corruptions`: refcounts that are too low. */
  lowRefcounts = 0;
  /** Of `corruptions`: of the refcount table and its blocks. */
  structureErrors = 0;
  leaks = 0;
  checkErrors = 0;
  allocatedClusters = 0;
  fragmentedClusters = 0;
  compressedClusters = 0;
  imageEndOffset = 0;
  /** Some table could not be followed: what it refers to is not known, and must not be taken for unused. */
  incomplete = false;
  /** The refcount table or a block of it cannot be put right where it is. */
  needsRebuild = false;
  /** Entries that lead off a cluster, and that say that the cluster reads as zeroes all the same. */
  misplacedZeroes = 0;
  readonly findings: string[] = [];

  /** `text` is only asked for while there is room for it. */
  corruption(times: number, text: () => string): void {
    this.corruptions += times;
    this.#tell(text);
  }

  flagError(times: number, text: () => string): void {
    this.flagErrors += times;
    this.corruption(times, text);
  }

  structureError(text: () => string): void {
    this.structureErrors++;
    this.needsRebuild = true;
    this.corruption(1, text);
  }

  leak(text: () => string): void {
    this.leaks++;
    this.#tell(text);
  }

  checkError(text: () => string): void {
    this.checkErrors++;
    this.incomplete = true;
    this.#tell(text);
  }

  #tell(text: () => string): void {
    if (this.findings.length < mostFindings) this.findings.push(text());
  }
}
