import { expect, it } from 'vitest';
import { cut, LiveLines, widthOf } from './live-lines.ts';

/** As much of a terminal as the drawing uses: text, line breaks, up, erase below. Rows wrap at its width. */
class Screen {
  isTTY = true;
  columns = 20;
  rows = 10;
  lines: string[] = [''];
  #row = 0;

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it reads.
    for (const [, up, erase, letter] of text.matchAll(/\u001b\[(\d+)A|(\u001b\[J)|\u001b\[[\d;]*m|([\s\S])/g)) {
      if (up) this.#row = Math.max(0, this.#row - Number(up));
      else if (erase) this.lines = [...this.lines.slice(0, this.#row), ''];
      else if (letter === '\n') this.lines[++this.#row] ??= '';
      else if (letter && letter !== '\r') this.lines[this.#row] += letter;
    }
  }

  /** Narrower: what is there takes more rows. */
  resize(columns: number): void {
    this.columns = columns;
    const wrapped = this.lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? ['']);
    this.#row += wrapped.length - this.lines.length;
    this.lines = wrapped;
  }
}

it('draws over what it drew before', () => {
  const screen = new Screen();
  screen.write('before\n');
  const live = new LiveLines(screen);
  live.draw(['one', 'two']);
  live.draw(['one', 'two', 'three']);
  live.draw(['done']);
  expect(screen.lines).toEqual(['before', 'done', '']);
  live.clear();
  expect(screen.lines).toEqual(['before', '']);
});

it('takes back as many rows as its lines fill after the terminal became narrower', () => {
  const screen = new Screen();
  screen.write('before\n');
  const live = new LiveLines(screen);
  live.draw(['a line of 17 chars', 'short']);
  screen.resize(10);
  expect(screen.lines).toHaveLength(5);
  live.draw(['next', 'lines']);
  expect(screen.lines).toEqual(['before', 'next', 'lines', '']);
});

it('shows the last lines where there are more than rows, and cuts long ones', () => {
  const screen = new Screen();
  screen.rows = 3;
  new LiveLines(screen).draw(['1', '2', '3', `4${'x'.repeat(40)}`]);
  expect(screen.lines).toEqual(['3', `4${'x'.repeat(17)}…`, '']);
});

it('counts letters and not colours', () => {
  const red = '\u001b[31mred and long\u001b[39m';
  expect(widthOf(red)).toBe(12);
  expect(cut(red, 12)).toBe(red);
  expect(cut(red, 4)).toBe('\u001b[31mred\u001b[39m…');
});
