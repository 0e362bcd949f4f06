/** A class list: CSV with a line for each student. The first column names them; a header line is left out. */
import { readFile } from 'node:fs/promises';
import { RookeryError } from '../errors.ts';

const HEADERS = /^(student|name|owner|id|user|login|email|e-mail)s?$/i;

export interface Student {
  /** As in the file: who the workspace belongs to. */
  owner: string;
  /** The same as part of a name of an object. */
  id: string;
}

export async function readStudents(file: string): Promise<Student[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new RookeryError('students.file', `${file} cannot be read: ${error.code}`, { class: 'user' });
  });
  return parseStudents(text, file);
}

export function parseStudents(text: string, file: string): Student[] {
  const rows = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const students: (Student & { line: number })[] = [];
  for (const [index, row] of rows.entries()) {
    const owner = firstCell(row);
    if (owner === '' || (students.length === 0 && HEADERS.test(owner))) continue;
    const id = plainLetters(owner.toLowerCase())
      .replace(/@.*$/, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 30);
    if (id === '')
      throw wrong(file, index, `${JSON.stringify(owner)} has no letters (a to z) or digits to make a name of`);
    const same = students.find((student) => student.id === id);
    if (same) throw wrong(file, index, `${owner} and ${same.owner} (line ${same.line}) would have the same workspace`);
    students.push({ owner, id, line: index + 1 });
  }
  if (students.length === 0) throw wrong(file, 0, 'there are no students in it');
  return students.map(({ owner, id }) => ({ owner, id }));
}

/** Letters that are more than one with something above or below it. */
const SPELLED: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };

/** `čapek` is `capek`: who reads the name of their workspace knows that it is theirs. */
function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]/g, (letter) => SPELLED[letter] ?? letter);
}

function firstCell(row: string): string {
  const quoted = /^\s*"((?:[^"]|"")*)"/.exec(row)?.[1];
  return (quoted?.replaceAll('""', '"') ?? row.split(/[,;\t]/)[0] ?? '').trim();
}

function wrong(file: string, index: number, message: string): RookeryError {
  const hint = 'write one student per line, the first column is their name or login';
  return new RookeryError('students.line', `${file}:${index + 1}: ${message}`, { class: 'user', hint });
}
