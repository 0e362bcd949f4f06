/** The ways in which the file of a store is lost or damaged. */
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface Damage {
  what: string;
  reason: 'StoreMissing' | 'StoreDamaged';
  /** `other`: the store of another cluster. Both are closed. */
  harm(file: string, other: string): void;
}

const PAGE = 4096;

export const DAMAGES: Damage[] = [
  { what: 'deleted', reason: 'StoreMissing', harm: (file) => rmSync(file) },
  { what: 'emptied', reason: 'StoreDamaged', harm: (file) => writeFileSync(file, '') },
  { what: 'cut in half', reason: 'StoreDamaged', harm: (file) => truncateSync(file, readFileSync(file).length / 2) },
  { what: 'cut to half a header', reason: 'StoreDamaged', harm: (file) => truncateSync(file, 50) },
  { what: 'given another header', reason: 'StoreDamaged', harm: (file) => overwrite(file, 0, 100) },
  {
    what: 'overwritten behind its first page',
    reason: 'StoreDamaged',
    harm: (file) => overwrite(file, PAGE, readFileSync(file).length - PAGE),
  },
  {
    what: 'exchanged for the store of another cluster',
    reason: 'StoreDamaged',
    harm: (file, other) => copyFileSync(other, file),
  },
  {
    what: "exchanged for another program's database",
    reason: 'StoreDamaged',
    harm(file) {
      rmSync(file);
      new Database(file).exec('CREATE TABLE a(b); INSERT INTO a VALUES (1);').close();
    },
  },
];

/** As the bytes of a disk that rots: with others of the same length. */
function overwrite(file: string, at: number, length: number): void {
  const content = readFileSync(file);
  content.fill(0xa5, at, at + length);
  writeFileSync(file, content);
}

/** Turns one byte of a stored text, wherever it is. */
export function spoil(file: string, text: string): void {
  const content = readFileSync(file);
  const at = content.indexOf(text);
  if (at < 0) throw new Error(`${text} is not in ${file}`);
  content[at] = 0;
  writeFileSync(file, content);
}
