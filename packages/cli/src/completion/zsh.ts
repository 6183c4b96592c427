import type { CompletedCommand, CompletedOption } from './model.ts';

const quote = (text: string): string => text.replaceAll("'", `'\\''`);
const describe = (text: string): string => quote(text.replaceAll(/[[\]:\\]/g, (c) => `\\${c}`));

export function zshScript(commands: readonly CompletedCommand[]): string {
  const list = commands.map(({ name, help }) => `    '${name}:${describe(help)}'`);
  const cases = commands.map((command) => {
    const rest = command.values.length > 0 ? `'1:value:(${command.values.join(' ')})'` : "'*:file:_files'";
    const lines = [...command.options.map(specOf), ...(command.takesArguments ? [rest] : [])];
    return `    ${command.name})\n      _arguments -s -S \\\n        ${lines.join(' \\\n        ')} ;;`;
  });
  return `#compdef blockyard
_blockyard() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'blockyard command' commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _blockyard blockyard`;
}

function specOf({ flags, help, takesValue, values }: CompletedOption): string {
  const value = takesValue ? `:value:${values.length > 0 ? `(${values.join(' ')})` : '_files'}` : '';
  const names = flags.length > 1 ? `'(${flags.join(' ')})'{${flags.join(',')}}` : (flags[0] ?? '');
  return `${names}'[${describe(help)}]${value}'`;
}
