import { BlockError, type BlockLimits, BlockNode, type OpenContext, readOnlySupports } from '@blockyard/core';
import type { ScsiGenericLimits } from '@blockyard/native';
import type { HostFile } from './host.ts';
import { openRefusal } from './open-errors.ts';

/**
 * A SCSI generic device (/dev/sg*): its limits can be read. Its requests would be SCSI commands, which this driver
 * does not speak: the device's block node (/dev/sd*) takes reads and writes.
 */
export class ScsiGenericNode extends BlockNode {
  readonly #file: HostFile;
  readonly #device: ScsiGenericLimits;

  private constructor(file: HostFile, device: ScsiGenericLimits, filename: string, context: OpenContext) {
    super({
      driver: { name: 'file', kind: 'protocol' },
      context,
      path: filename,
      supports: readOnlySupports,
    });
    this.#file = file;
    this.#device = device;
  }

  /** @throws BlockError where the character device is of another kind. */
  static async open(file: HostFile, filename: string, context: OpenContext): Promise<ScsiGenericNode> {
    if (!file.calls) {
      throw openRefusal(
        'ERR_NOT_SUPPORTED',
        filename,
        'character devices need the native addon, which is not used; name a file or block device',
      );
    }
    let limits: ScsiGenericLimits;
    try {
      limits = await file.calls.scsiGeneric(file.fd);
    } catch {
      throw openRefusal(
        'ERR_NOT_SUPPORTED',
        filename,
        'this character device is not a SCSI generic device; name a file or block device',
      );
    }
    return new ScsiGenericNode(file, limits, filename, context);
  }

  get size(): number {
    return 0;
  }

  override describeOptions(): Record<string, unknown> {
    return { filename: this.path, scsiGeneric: true };
  }

  override read(): never {
    throw this.#refusal('read');
  }

  override write(): never {
    throw this.#refusal('write');
  }

  override writeZeroes(): never {
    throw this.#refusal('writeZeroes');
  }

  override discard(): never {
    throw this.#refusal('discard');
  }

  override blockStatus(): never {
    throw this.#refusal('blockStatus');
  }

  protected override _read(): never {
    throw this.#refusal('read');
  }

  protected override _flush(): void {}

  /** These requests bypass the kernel's block layer, so the hardware's limits hold as they are. */
  protected override _refreshLimits(limits: BlockLimits): void {
    limits.maxHwTransfer = this.#device.maxTransfer;
    limits.maxHwIov = this.#device.maxSegments;
  }

  protected override _close(): Promise<void> {
    return this.#file.close();
  }

  #refusal(op: string): BlockError {
    const text = `${op} ${this.path}: the driver 'file' sends no SCSI commands, so a SCSI generic device is only described; open its block device (/dev/sd*) instead`;
    return new BlockError('ERR_NOT_SUPPORTED', text, {
      driver: 'file',
      node: this.name,
      op,
      path: this.path,
    });
  }
}
