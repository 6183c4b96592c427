import type { Progress } from '@blockyard/image-ops';
import type { Terminal } from '../terminal.ts';
import { formatBytes, formatDuration } from './bytes.ts';

const redrawMs = 100;
/** Between lines where a line cannot be redrawn. */
const repeatMs = 1000;
const barWidth = 24;

/** The progress of one operation: a line on a terminal, lines elsewhere, nothing where it is not wanted. */
export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #doing: string;
  readonly #shown: boolean;
  readonly #redraw: boolean;
  readonly #started = performance.now();
  #last: number;
  #drawn = false;
  #latest: Progress | undefined;

  constructor(terminal: Terminal, doing: string, asked: boolean | undefined) {
    this.#terminal = terminal;
    this.#doing = doing;
    this.#redraw = terminal.streams.stderr.isTTY === true && terminal.streams.env.TERM !== 'dumb';
    this.#shown = !terminal.quiet && (asked ?? (this.#redraw && !terminal.json));
    // What is done at once needs no line.
    this.#last = this.#started + (asked ? 0 : redrawMs);
    if (this.#shown) terminal.line = this;
  }

  /** To be given to the operation. */
  readonly report = (progress: Progress): void => {
    this.#latest = progress;
    if (!this.#shown) return;
    const now = performance.now();
    if (now - this.#last < (this.#redraw ? redrawMs : repeatMs)) return;
    this.#last = now;
    this.#draw(progress, now);
  };

  clear(): void {
    if (this.#drawn) this.#terminal.streams.stderr.write('\r\x1b[K');
    this.#drawn = false;
  }

  /** The line goes away; where lines stay, the last one says that all is done. */
  end(done = true): void {
    this.clear();
    if (done && this.#shown && !this.#redraw && this.#latest) this.#draw(this.#latest, performance.now());
    this.#terminal.line = undefined;
  }

  #draw(progress: Progress, now: number): void {
    const { stderr } = this.#terminal.streams;
    const text = this.#text(progress, (now - this.#started) / 1000);
    if (!this.#redraw) return void stderr.write(`${text}\n`);
    stderr.write(`\r${text}\x1b[K`);
    this.#drawn = true;
  }

  #text({ done, total, zero }: Progress, seconds: number): string {
    const { err, streams } = this.#terminal;
    const rate = seconds > 0 ? done / seconds : 0;
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const amount = total > 0 ? `${formatBytes(done)} of ${formatBytes(total)}` : formatBytes(done);
    const speed = `${formatBytes(rate)}/s`;
    const left =
      total > done && rate > 0 && seconds > 1 ? `${formatDuration((total - done) / rate)} left` : '';
    const nothing = zero > 0 ? `${formatBytes(zero)} zero` : '';
    const percent = total > 0 ? `${String(Math.floor(share * 100)).padStart(3)}%` : '';
    const head = `${this.#doing} ${percent}`;
    const all = [amount, speed, left, nothing].filter((part) => part !== '').join('  ');
    const columns = this.#redraw ? (streams.stderr.columns ?? 80) : Number.POSITIVE_INFINITY;
    if (!this.#redraw || total === 0) {
      const short = [`${head}  ${all}`, `${head}  ${amount}`].find((text) => text.length < columns);
      return short ?? amount.slice(0, columns - 1);
    }
    // Whole parts go, the least important first.
    const tails = [all, [amount, speed, left], [percent ? left || speed : amount], []].map((parts) =>
      typeof parts === 'string' ? parts : parts.filter((part) => part !== '').join('  '),
    );
    const fits = (tail: string) => head.length + (tail ? tail.length + 2 : 0) < columns;
    const tail = tails.find(fits);
    if (tail === undefined) return percent.trim().slice(0, columns - 1);
    const width = Math.min(barWidth, columns - head.length - tail.length - 4);
    if (width < 5 || tail !== all) return tail ? `${head}  ${tail}` : head;
    const full = Math.round(share * width);
    return `${head} ${err.cyan('━'.repeat(full))}${err.dim('─'.repeat(width - full))}  ${tail}`;
  }
}
