import { BlockError } from '@blockyard/core';

/** What the library says in the words of its API, in those of the command line. */
const words: readonly (readonly [said: RegExp, here: string | ((said: string) => string)])[] = [
  [
    /allow it with the references policy \([^)]*\), or give (?:the )?[\w-]+ explicitly/g,
    'allow it with --references allow, or give the chain as a graph',
  ],
  [/allow probing \(probe: true\)/g, 'let it be guessed with --probe'],
  [/give its real format, or probe: true to guess it/g, 'give its real format with -f, or leave out -f'],
  [/probe: true to guess it/g, 'leave out -f to have it guessed'],
  [
    /put it there, or give the chain explicitly/g,
    'put it there, or say where it is now: blockyard rebase -u -b <name> -F <format> <image>',
  ],
  [/give the chain explicitly/g, 'give the chain as a graph'],
  [/, or open it with readOnly: true/g, ''],
  [/open it with readOnly: true, or /g, ''],
  [/(: |; )open it with readOnly: true/g, ''],
  [/it can be opened with readOnly: true/g, 'it can be read'],
  [/read it all the same with forceShare: true/g, 'read it all the same with -U'],
  [/forceShare: true/g, '-U'],
  [/give the format raw to use/g, 'say -f raw to use'],
  [/open it with the format raw\b/g, 'say -f raw'],
  [/(?:add|use) cache\.direct: true/g, 'add -T none (of a target: -t none)'],
  [/use cache\.direct: false/g, 'leave out -T none (of a target: -t none)'],
  [/cache\.direct: true/g, '-T none (of a target: -t none)'],
  [/\baio: 'native'/g, '--aio native'],
  [/use 'io_uring' or 'threads'/g, 'use io_uring or threads'],
  [/use locking: 'auto'/g, 'use file.locking=auto'],
  [/keep its data \(keep: true\)/g, 'keep its data with -d'],
  [
    /check it, or take a copy that is whole/g,
    'check it, or take a copy that is whole; convert --salvage copies what can be read',
  ],
  [/leave out compressed/g, 'leave out -c'],
  [/leave out bitmaps/g, 'leave out --bitmaps'],
  [/or skip broken bitmaps/g, 'or say --skip-broken-bitmaps'],
  [
    /\b(?:clusterSize|refcountBits|lazyRefcounts|extendedL2|compressionType|dataFileRaw|dataFile|backingFile)\b/g,
    (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  ],
  [/\bbackingFormat\b/g, 'backing_fmt'],
];

export function inOurWords(text: string): string {
  return words.reduce(
    (said, [from, to]) => said.replaceAll(from, (match) => (typeof to === 'string' ? to : to(match))),
    text,
  );
}

/** Of a command that has no -U: reading is not all that it does. */
export function withoutForceShare(error: unknown): unknown {
  if (!(error instanceof BlockError) || error.code !== 'ERR_IN_USE') return error;
  const { code, message, driver, node, op, path } = error;
  const said = message.replace(/, or read it all the same with forceShare: true( \([^)]*\))?/, '');
  return new BlockError(code, said, { driver, node, op, path, cause: error });
}
