/** Numbers that people write after flags. */
import { RookeryError } from '../errors.ts';

/** In milliseconds. */
export function seconds(text: string, flag: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * 1000;
  throw new RookeryError('cli.seconds', `${flag}: ${JSON.stringify(text)} is not a number of seconds`, {
    class: 'user',
  });
}

export function count(text: string | undefined, flag: string, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && text.trim() !== '') return value;
  const wanted = least === 1 ? 'a number above 0' : `a number from ${least}`;
  throw new RookeryError('cli.count', `${flag}: ${JSON.stringify(text)} is not ${wanted}`, { class: 'user' });
}
