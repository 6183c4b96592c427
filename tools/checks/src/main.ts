import { resolve } from 'node:path';
import { checkDirections } from './directions.ts';
import { checkDocs } from './docs.ts';
import { checkManifests } from './manifests.ts';
import { checkPortable } from './portable.ts';
import { checkMachinePaths } from './tracked.ts';

const root = resolve(import.meta.dirname, '../../..');
const checks: Record<string, (root: string) => string[]> = {
  'packages depend in one direction': checkDirections,
  'portable packages load without Node': checkPortable,
  'manifests agree': checkManifests,
  'documents keep up with the code': checkDocs,
  'nothing is tied to one machine': checkMachinePaths,
};

for (const [rule, check] of Object.entries(checks)) {
  const problems = check(root);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${rule}`);
  for (const problem of problems) console.log(`       ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
