import type { CompletedCommand } from './model.ts';

export function bashScript(commands: readonly CompletedCommand[]): string {
  const words = (list: readonly string[]) => list.join(' ');
  const values = commands.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, values }) => {
        const pattern = flags.map((flag) => `${name}:${flag}`).join('|');
        const reply =
          values.length > 0
            ? `COMPREPLY=($(compgen -W '${words(values)}' -- "$word"))`
            : 'compopt -o default';
        return `    ${pattern}) ${reply}; return ;;`;
      }),
  );
  const flags = commands.map(
    ({ name, options }) => `      ${name}) flags='${words(options.flatMap((option) => option.flags))}' ;;`,
  );
  const first = commands
    .filter((command) => command.values.length > 0)
    .map(
      ({ name, values }) => `    ${name}) COMPREPLY=($(compgen -W '${words(values)}' -- "$word")); return ;;`,
    );
  return `# bash completion for blockyard
_blockyard() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} flags
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${words(commands.map(({ name }) => name))} --help --version' -- "$word"))
    return
  fi
  case "$command:$before" in
${values.join('\n')}
  esac
  if [[ $word == -* ]]; then
    case "$command" in
${flags.join('\n')}
    esac
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
    return
  fi
  case "$command" in
${first.join('\n')}
  esac
  compopt -o default
}
complete -F _blockyard blockyard`;
}
