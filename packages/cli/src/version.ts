import { readFileSync } from 'node:fs';

/** Read only when somebody asks. */
export const version = {
  toString(): string {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  },
};
