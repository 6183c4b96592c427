/** What the library says in the words of its API, in those of the command line. */
const words: readonly (readonly [said: RegExp, here: string])[] = [
  [
    /allow it with the references policy \([^)]*\), or give (?:the )?[\w-]+ explicitly/g,
    'allow it with --references allow, or give the chain as a graph',
  ],
  [/allow probing \(probe: true\)/g, 'let it be guessed with --probe'],
  [/give its real format, or probe: true to guess it/g, 'give its real format with -f, or leave out -f'],
  [/probe: true to guess it/g, 'leave out -f to have it guessed'],
  [/give the chain explicitly/g, 'give the chain as a graph'],
  [/or open it with readOnly: true/g, 'or choose another target'],
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
];

export function inOurWords(text: string): string {
  return words.reduce((said, [from, to]) => said.replaceAll(from, to), text);
}
