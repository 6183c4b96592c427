import type { Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { modelOf } from './model.ts';
import { zshScript } from './zsh.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

export function completionScript(shell: (typeof shells)[number], program: Command): string {
  const model = modelOf(program);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](model);
}
