import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeHome } from './usable-home.ts';

const folder = mkdtempSync(join(tmpdir(), 'rookery-usable-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;
const refusal = (why: RegExp) =>
  expect.objectContaining({ code: 'home.unusable', message: expect.stringMatching(why) });

it('makes the folder and those above it, for its owner alone', () => {
  const home = join(folder, 'a', 'b');
  makeHome(home);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  makeHome(home);
});

it('says that a file is in the way', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => makeHome(file)).toThrow(refusal(/it is a file/));
  expect(() => makeHome(join(file, 'home'))).toThrow(refusal(/file is a file/));
});

it('says that no folder can be made there', () => {
  expect(() => makeHome('/proc/rookery/home')).toThrow(refusal(/cannot be the home of Rookery/));
});

it.runIf(isRoot)('says that the disk is read-only, whether the folder is there or not', () => {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', disk]);
  try {
    expect(() => makeHome(join(disk, 'home'))).toThrow(refusal(/the disk is read-only/));
    expect(() => makeHome(disk)).toThrow(refusal(/the disk is read-only/));
  } finally {
    execFileSync('umount', [disk]);
  }
});

it.runIf(isRoot)("says that another user's folder may not be written", () => {
  const theirs = join(folder, 'theirs');
  mkdirSync(theirs, { mode: 0o755 });
  process.seteuid?.(65534);
  try {
    expect(() => makeHome(theirs)).toThrow(refusal(/this user may not/));
    expect(() => makeHome(join(theirs, 'home'))).toThrow(refusal(/this user may not/));
  } finally {
    process.seteuid?.(0);
  }
});
