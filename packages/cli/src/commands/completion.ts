import { Argument, type Command } from 'commander';
import { completionScript, shells } from '../completion/index.ts';
import { fullProgram } from '../program.ts';
import type { Terminal } from '../terminal.ts';

const help = `
Examples:
  eval "$(blockyard completion bash)"                                        # in ~/.bashrc
  eval "$(blockyard completion zsh)"                                         # in ~/.zshrc, after compinit
  blockyard completion fish > ~/.config/fish/completions/blockyard.fish
`;

export function define(command: Command, terminal: Terminal): void {
  command
    .description('Prints a completion script for a shell.')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', help)
    .action(async (shell: (typeof shells)[number]) => {
      terminal.print(completionScript(shell, await fullProgram(terminal)));
    });
}
