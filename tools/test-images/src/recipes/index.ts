import type { Recipe } from '../recipe.ts';
import { chains } from './chains.ts';
import { clusters } from './clusters.ts';
import { compression } from './compression.ts';
import { dataFiles } from './data-files.ts';
import { demo } from './demo.ts';
import { encryption } from './encrypted.ts';
import { sizes } from './sizes.ts';
import { snapshots } from './snapshots.ts';
import { states } from './states.ts';
import { versions } from './versions.ts';
import { zeroes } from './zeroes.ts';

export const recipes: Recipe[] = [
  ...versions,
  ...clusters,
  ...compression,
  ...zeroes,
  ...chains,
  ...dataFiles,
  ...snapshots,
  ...sizes,
  ...states,
  ...encryption,
  ...demo,
];
