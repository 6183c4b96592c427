import type { Implementation } from './scan.types.ts';

// What `#scan` is everywhere but in Node: see "imports" in package.json.
export { scanWords as scan } from './scan-words.ts';

export const implementation = (): Implementation => 'words';
