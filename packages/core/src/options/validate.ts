import { BlockNode } from '../block-node.ts';
import { BlockError } from '../errors.ts';
import { commonOptions, type OptionSpec, type OptionSpecs } from './spec.ts';

const join = (path: string, name: string): string => (path ? `${path}.${name}` : name);

const list = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(' | ');

const show = (value: unknown): string => {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
};

function expected(path: string, what: string, value: unknown): BlockError {
  return new BlockError('ERR_INVALID_OPTION', `${path}: expected ${what}, got ${show(value)}`, {
    op: 'open',
  });
}

/**
 * Checks a driver's options against its specs.
 * @throws BlockError ERR_INVALID_OPTION, naming the path of the option ("file.aio: expected 'threads' | 'native'").
 */
export function validateOptions(options: object, driver: string, specs: OptionSpecs, path: string): void {
  checkFields(options, { ...commonOptions, ...specs }, path, `driver '${driver}'`, ['driver']);
  const { detectZeroes, discard } = options as { detectZeroes?: string; discard?: string };
  if (detectZeroes === 'unmap' && discard !== 'unmap') {
    const text = `${join(path, 'detectZeroes')}: 'unmap' needs discard: 'unmap' on the same node; add it, or use 'on'`;
    throw new BlockError('ERR_DETECT_ZEROES', text, { driver, op: 'open' });
  }
}

/**
 * Checks options against specs; `owner` says in messages whose they are ("a new qcow2 image").
 * @throws BlockError ERR_INVALID_OPTION
 */
export function checkOptions(options: object, owner: string, specs: OptionSpecs): void {
  checkFields(options, specs, '', owner);
}

function checkFields(
  value: object,
  specs: OptionSpecs,
  path: string,
  owner: string,
  also: readonly string[] = [],
): void {
  for (const name of Object.keys(value)) {
    if (!also.includes(name) && !Object.hasOwn(specs, name)) {
      const known = Object.keys(specs).sort().join(', ');
      throw new BlockError(
        'ERR_INVALID_OPTION',
        `${join(path, name)}: ${owner} has no such option; it has ${known}`,
        { op: 'open' },
      );
    }
  }
  for (const [name, spec] of Object.entries(specs)) {
    const given = (value as Record<string, unknown>)[name];
    const where = join(path, name);
    if (given === undefined) {
      if ('required' in spec && spec.required) {
        throw new BlockError('ERR_INVALID_OPTION', `${where}: ${owner} needs this option (${spec.help})`, {
          op: 'open',
        });
      }
    } else checkValue(given, spec, where);
  }
}

function checkValue(value: unknown, spec: OptionSpec, path: string): void {
  switch (spec.type) {
    case 'string':
      if (typeof value !== 'string') throw expected(path, 'a string', value);
      if (value.includes('\0')) throw expected(path, 'a string without NUL characters', value);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw expected(path, 'true | false', value);
      return;
    case 'size':
      if (!Number.isSafeInteger(value) || (value as number) < 0)
        throw expected(path, 'a whole number between 0 and 2^53 - 1', value);
      return;
    case 'enum':
      if (!spec.values.includes(value as string)) throw expected(path, list(spec.values), value);
      return;
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw expected(path, 'an object', value);
      return checkFields(value, spec.fields, path, `'${path}'`);
    case 'node':
      if (value === null && spec.nullable) return;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        if (value instanceof BlockNode || typeof (value as { driver?: unknown }).driver === 'string') return;
        throw expected(join(path, 'driver'), 'the name of a driver', (value as { driver?: unknown }).driver);
      }
      throw expected(path, `the options of a node${spec.nullable ? ', or null' : ''}`, value);
    case 'any':
      return;
  }
}
