import type { NodeOptions } from '../driver.ts';
import { BlockError } from '../errors.ts';
import type { Registry } from '../registry.ts';

/** What a name leads to that somebody gives for an image which is, or will be, in `image`: a URL, or a file beside it. */
export function beside(registry: Registry, image: NodeOptions, name: string): NodeOptions {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase();
  const found =
    scheme === undefined
      ? registry.driver(image.driver).sibling?.(name, image)
      : registry.driverForScheme(scheme)?.parseName?.(name);
  if (found) return found;
  const text =
    scheme === undefined
      ? `create: the driver '${image.driver}' does not know where '${name}' would be, seen from the image`
      : `create: no registered driver speaks ${scheme}:// ('${name}')`;
  throw new BlockError('ERR_NOT_SUPPORTED', text, { op: 'create', driver: image.driver, path: name });
}
