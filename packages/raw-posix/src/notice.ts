const said = new Set<string>();

/** One line, once per process: what is degraded and why. */
export function notice(code: string, text: string): void {
  if (said.has(code)) return;
  said.add(code);
  process.emitWarning(`@blockyard/raw-posix: ${text}`, { type: 'BlockyardNotice', code });
}
