import type { BlockNode } from '@blockyard/core';
import { incompatible } from '../features.ts';
import { adjustRefcounts } from './adjust-refcounts.ts';
import type { Inspected } from './check-image.ts';
import { dropMisplacedZeroes, fixCopiedFlags } from './fix-entries.ts';
import { changeHeader } from './header-sector.ts';
import { rebuildRefcounts } from './rebuild.ts';

export interface Repaired {
  left: Inspected;
  corruptionsFixed: number;
  leaksFixed: number;
  findings: readonly string[];
}

const mostNotes = 1000;

/**
 * Puts right what can be without a guess, in an order that leaves the image no worse wherever it ends: refcounts that
 * are too low first, since only they put data at risk; then what is only lost space. Data is never given up: an entry
 * that leads nowhere stays, and where a table could not be followed nothing is taken for unused.
 */
export async function repairImage(
  file: BlockNode,
  first: Inspected,
  mode: 'leaks' | 'all',
  inspect: () => Promise<Inspected>,
  signal: AbortSignal | undefined,
): Promise<Repaired> {
  const findings: string[] = [];
  const note = (text: string) => {
    if (findings.length < mostNotes) findings.push(text);
  };
  let now = first;
  let corruptionsFixed = 0;
  let leaksFixed = 0;
  const flags = async (change: 'clear' | 'set') => {
    if (now.report.flagErrors === 0) return;
    const changed = await fixCopiedFlags(file, now.survey, change, signal);
    corruptionsFixed += changed;
    if (changed === 0) return;
    note(`repaired: ${changed} copied flags were ${change === 'clear' ? 'cleared' : 'set'}`);
    now = await inspect();
  };
  if (mode === 'all') {
    if (now.report.misplacedZeroes > 0) {
      corruptionsFixed += await dropMisplacedZeroes(file, now.survey, note, signal);
      now = await inspect();
    }
    if (now.report.needsRebuild) {
      const { structureErrors, lowRefcounts, leaks, incomplete } = now.report;
      await rebuildRefcounts(file, now.survey, note, signal);
      corruptionsFixed += structureErrors + lowRefcounts;
      if (!incomplete) leaksFixed += leaks;
      now = await inspect();
    } else if (now.report.lowRefcounts > 0) {
      corruptionsFixed += await adjustRefcounts(file, now.survey, 'raise', note, signal);
      now = await inspect();
    }
    await flags('clear');
  }
  if (now.report.leaks > 0) {
    if (now.report.incomplete)
      note('leaks were kept: some table could not be followed, and may refer to them');
    else {
      leaksFixed += await adjustRefcounts(file, now.survey, 'lower', note, signal);
      now = await inspect();
    }
  }
  // A repair of leaks alone corrects flags, too, when nothing else is wrong: then the refcounts are right.
  if (mode === 'all' || now.report.corruptions === now.report.flagErrors) {
    await flags('clear');
    await flags('set');
  }
  const { report, survey } = now;
  if (
    report.corruptions === 0 &&
    report.checkErrors === 0 &&
    (survey.header.dirty || survey.header.corrupt)
  ) {
    const marks = (1 << incompatible.dirty) | (1 << incompatible.corrupt);
    await changeHeader(file, (view) => view.setUint32(76, view.getUint32(76) & ~marks));
    note('repaired: the mark of an image that is dirty or corrupt was removed');
  }
  return { left: now, corruptionsFixed, leaksFixed, findings };
}
