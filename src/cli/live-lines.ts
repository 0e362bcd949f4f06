/**
 * A few lines at the bottom of a terminal that are drawn again and again, and stay when it is over. Lines are cut at the width of the
 * terminal; when that changes under them, the terminal has wrapped what is there, and as many rows are taken back as it needs now.
 */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOURS = /(\u001b\[[\d;]*m)/g;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export class LiveLines {
  readonly #terminal: Terminal;
  /** Widths of what is drawn. */
  #drawn: number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  draw(lines: readonly string[]): void {
    const { columns = DEFAULT_COLUMNS, rows = DEFAULT_ROWS } = this.#terminal;
    // The newest are at the end, and one row is the cursor's.
    const shown = lines.slice(-(rows - 1)).map((line) => cut(line, columns - 1));
    this.#terminal.write(`${this.#erase()}${shown.map((line) => `${line}\n`).join('')}`);
    this.#drawn = shown.map(widthOf);
  }

  /** Nothing of it is left. */
  clear(): void {
    this.#terminal.write(this.#erase());
    this.#drawn = [];
  }

  #erase(): string {
    const { columns = DEFAULT_COLUMNS, rows = DEFAULT_ROWS } = this.#terminal;
    const height = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return height === 0 ? '' : `\u001b[${Math.min(height, rows)}A\r\u001b[J`;
  }
}

export function widthOf(line: string): number {
  return [...line.replace(COLOURS, '')].length;
}

/** Colours take no room and are closed where the text is cut. */
export function cut(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let room = Math.max(0, width - 1);
  let kept = '';
  for (const part of line.split(COLOURS)) {
    if (part.startsWith('\u001b')) kept += part;
    else {
      const letters = [...part].slice(0, room);
      room -= letters.length;
      kept += letters.join('');
    }
  }
  return `${kept}…`;
}
