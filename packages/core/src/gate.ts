import type { BlockNode } from './block-node.ts';
import type { BlockDriver, Located, NodeOptions, Reference } from './driver.ts';
import { BlockError } from './errors.ts';
import { probeFormat } from './probe.ts';
import type { Registry } from './registry.ts';

/**
 * Which names found inside images are followed. `deny` follows none. `same-directory` follows files whose real path
 * lies in the same real directory as the image. A function decides by itself.
 */
export type ReferencePolicy =
  | 'deny'
  | 'same-directory'
  | ((reference: Reference) => boolean | Promise<boolean>);

/** Images behind one another; more is a mistake or an attack. */
export const maxChainDepth = 64;

type OpenNode = (options: NodeOptions, gate: Gate, readOnly: boolean | undefined) => Promise<BlockNode>;

/** The file below formats and filters, which knows where it is. */
export function protocolNode(node: BlockNode): BlockNode {
  let below = node;
  while (below.children.file) below = below.children.file;
  return below;
}

/** Follows names found inside images, or refuses to. One for each image of a chain. */
export class Gate {
  readonly policy: ReferencePolicy;
  /** Whether formats that an image does not record may be probed. */
  readonly probe: boolean;
  readonly #registry: Registry;
  readonly #open: OpenNode;
  readonly #above: readonly string[];
  readonly #depth: number;

  constructor(
    registry: Registry,
    open: OpenNode,
    policy: ReferencePolicy,
    probe: boolean,
    above: readonly string[] = [],
    depth = 0,
  ) {
    this.#registry = registry;
    this.#open = open;
    this.policy = policy;
    this.probe = probe;
    this.#above = above;
    this.#depth = depth;
  }

  /**
   * Opens what the image names: a backing image through its format's driver, a data file as plain bytes.
   * @throws BlockError ERR_DENIED_REFERENCE, ERR_REFERENCE_CHAIN (too deep, or a loop), ERR_FORMAT_REQUIRED.
   */
  async follow(reference: Reference, overrides: { readOnly?: boolean } = {}): Promise<BlockNode> {
    const from = protocolNode(reference.from);
    if (this.policy === 'deny') throw denied(reference, from, 'names inside images are not followed here');
    if (this.#depth >= maxChainDepth)
      throw chain(reference, from, `more than ${maxChainDepth} images behind one another`);
    const { driver, located } = await this.#locate(reference, from);
    if (this.policy === 'same-directory') {
      const { directory } = located.location;
      if (directory === undefined || directory !== from.location.directory) {
        throw denied(reference, from, 'it is not in the same directory as the image');
      }
    } else if (!(await this.policy(reference))) {
      throw denied(reference, from, 'the reference policy refused it');
    }
    const own = from.location.identity;
    const above = own === undefined ? this.#above : [...this.#above, own];
    const identity = located.location.identity;
    if (identity !== undefined && above.includes(identity))
      throw chain(reference, from, 'the chain leads back to it');
    const next = new Gate(this.#registry, this.#open, this.policy, this.probe, above, this.#depth + 1);
    const readOnly = reference.role === 'backing' ? true : overrides.readOnly;
    const named =
      reference.role === 'data-file'
        ? located.options
        : await this.#wrap(reference, from, driver, located, next);
    // What is behind an image opened past the host's cache is read past it too.
    const options = { ...named, cache: reference.from.common.cache };
    const node = await this.#open(options, next, readOnly);
    const opened = protocolNode(node).location.identity;
    if (identity === undefined || opened === identity) return node;
    await node.close();
    throw denied(reference, from, 'another file took its name while it was being opened');
  }

  async #locate(reference: Reference, from: BlockNode): Promise<{ driver: BlockDriver; located: Located }> {
    const { name } = reference;
    if (name === '') throw denied(reference, from, 'the name is empty');
    if (name.includes('\0')) throw denied(reference, from, 'the name has a NUL character');
    if (/^json:/i.test(name)) throw denied(reference, from, 'json: names inside images are never followed');
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase();
    const driver = scheme ? this.#registry.driverForScheme(scheme) : this.#pathDriver(from);
    if (!driver) {
      throw denied(
        reference,
        from,
        scheme ? `no registered driver speaks ${scheme}://` : 'no registered driver opens files',
      );
    }
    if (driver.locate) return { driver, located: await driver.locate(name, from) };
    if (driver.parseName) return { driver, located: { options: driver.parseName(name), location: {} } };
    throw denied(reference, from, `the driver '${driver.name}' does not take names`);
  }

  #pathDriver(from: BlockNode): BlockDriver | undefined {
    const own = this.#registry.drivers.get(from.driver);
    return own?.locate ? own : this.#registry.drivers.get('file');
  }

  async #wrap(
    reference: Reference,
    from: BlockNode,
    driver: BlockDriver,
    located: Located,
    gate: Gate,
  ): Promise<NodeOptions> {
    const { format } = reference;
    if (format !== undefined) {
      if (this.#registry.drivers.get(format)?.kind === 'format')
        return { driver: format, file: located.options };
      const text = `open ${from.path}: its ${reference.role} file '${reference.name}' has the format '${format}', which no registered driver reads`;
      throw new BlockError('ERR_UNKNOWN_DRIVER', text, { op: 'open', path: from.path });
    }
    if (!this.probe) {
      const text = `open ${from.path}: the image does not record the format of its ${reference.role} file '${reference.name}'; allow probing (probe: true), or give the chain explicitly`;
      throw new BlockError('ERR_FORMAT_REQUIRED', text, { op: 'open', path: from.path, driver: driver.name });
    }
    const file = await this.#open(located.options, gate, true);
    try {
      return { driver: await probeFormat(file, this.#registry.drivers.values()), file: located.options };
    } finally {
      await file.close();
    }
  }
}

function denied(reference: Reference, from: BlockNode, why: string): BlockError {
  const { role, name } = reference;
  const text = `open ${from.path}: the image names the ${role} file '${name}', and ${why}; allow it with the references policy ('same-directory', or a function), or give ${role} explicitly`;
  return new BlockError('ERR_DENIED_REFERENCE', text, {
    op: 'open',
    path: from.path,
    driver: from.driver,
    node: from.name,
  });
}

function chain(reference: Reference, from: BlockNode, why: string): BlockError {
  const text = `open ${from.path}: cannot follow the ${reference.role} file '${reference.name}': ${why}`;
  return new BlockError('ERR_REFERENCE_CHAIN', text, {
    op: 'open',
    path: from.path,
    driver: from.driver,
    node: from.name,
  });
}
