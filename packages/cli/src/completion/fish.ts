import type { CompletedCommand } from './model.ts';

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export function fishScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = [
    '# fish completion for blockyard',
    ...commands.map(
      ({ name, help }) => `complete -c blockyard -n __fish_use_subcommand -f -a ${name} -d ${quote(help)}`,
    ),
    `complete -c blockyard -n 'not __fish_seen_subcommand_from ${names}' -l version -d 'print the version'`,
  ];
  for (const { name, options, values } of commands) {
    const when = `-n '__fish_seen_subcommand_from ${name}'`;
    if (values.length > 0) lines.push(`complete -c blockyard ${when} -f -a ${quote(values.join(' '))}`);
    for (const { flags, help, takesValue, values } of options) {
      const spelled = flags
        .map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
        .join(' ');
      const value = takesValue ? (values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : ' -r') : '';
      lines.push(`complete -c blockyard ${when} ${spelled}${value} -d ${quote(help)}`);
    }
  }
  return lines.join('\n');
}
