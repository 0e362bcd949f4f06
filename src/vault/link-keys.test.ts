import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock as clock, systemRandom as random } from '../clock.ts';
import { LinkKeys } from './link-keys.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'link-keys-'));
  file = join(dir, 'links.key');
});
afterEach(() => rmSync(dir, { recursive: true }));
const open = () => LinkKeys.open(file, clock, random);

it('are made once, kept private, exchanged once for each moment, and retired', async () => {
  const [keys, same] = await Promise.all([open(), open()]);
  expect(same.all).toEqual(keys.all);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const since = Date.now() + 1;
  await new Promise((resolve) => setTimeout(resolve, 5));
  await keys.rotate(since);
  await keys.rotate(since);
  expect(keys.all).toHaveLength(2);
  expect(keys.all[1]).toEqual(same.all[0]);
  expect((await open()).all).toEqual(keys.all);
  await keys.retire();
  expect((await open()).all).toEqual([keys.all[0]]);
});

it('are read as older versions wrote them', async () => {
  const key = random.bytes(32);
  writeFileSync(file, key.toString('base64'));
  expect((await open()).all).toEqual([{ key, madeAt: undefined }]);
});

it('are never replaced when the file is damaged', async () => {
  for (const text of ['', 'abc', '{}', '{"version":1,"keys":[]}', '{"version":1,"keys":[{"key":"abcd"}]}', '{"keys"']) {
    writeFileSync(file, text);
    await expect(open()).rejects.toMatchObject({ code: 'vault.broken', message: expect.stringContaining(file) });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
});
