import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemRandom } from '../clock.ts';
import { type BackupSecret, deriveKey, keyFileSecret, recipeFor } from './backup-key.ts';
import { type Frame, SealedFileReader, SealedFileWriter } from './sealed-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'rookery-sealed-'));
afterAll(() => rmSync(folder, { recursive: true }));
const key = Buffer.alloc(32, 7);
const FRAMES: Frame[] = [
  { kind: 1, content: Buffer.from('first') },
  { kind: 2, content: Buffer.alloc(300, 'x') },
  { kind: 2, content: Buffer.alloc(0) },
];

async function write(name: string): Promise<string> {
  const file = join(folder, name);
  const writer = await SealedFileWriter.create(file, { who: 'me' }, key, systemRandom);
  for (const frame of FRAMES) await writer.write(frame);
  await writer.finish();
  return file;
}

async function read(file: string, with_ = key): Promise<Frame[]> {
  const reader = await SealedFileReader.open(file);
  try {
    const frames: Frame[] = [];
    for await (const frame of reader.frames(with_)) frames.push(frame);
    return frames;
  } finally {
    await reader.close();
  }
}

it('gives back what was written', async () => {
  const file = await write('whole');
  expect(await read(file)).toEqual(FRAMES);
  const reader = await SealedFileReader.open(file);
  expect(reader.header).toEqual({ who: 'me' });
  await reader.close();
});

it('refuses it with any one bit changed, cut anywhere, or with something after it', { timeout: 120_000 }, async () => {
  const file = await write('changed');
  const content = readFileSync(file);
  const bad = join(folder, 'bad');
  const refused = async (bytes: Buffer, what: string) => {
    writeFileSync(bad, bytes);
    await expect(read(bad), what).rejects.toMatchObject({ code: expect.stringMatching(/^backup\./) });
  };
  for (let at = 0; at < content.length; at++) {
    const changed = Buffer.from(content);
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    await refused(changed, `byte ${at}`);
    await refused(content.subarray(0, at), `cut at ${at}`);
  }
  await refused(Buffer.concat([content, Buffer.from('x')]), 'appended');
});

it('refuses another key, and parts in another order', async () => {
  const file = await write('order');
  await expect(read(file, Buffer.alloc(32, 8))).rejects.toMatchObject({ code: 'backup.key' });
  const content = readFileSync(file);
  const start = content.indexOf('\n') + 1;
  const first = 5 + content.readUInt32BE(start);
  const second = 5 + content.readUInt32BE(start + first);
  const swapped = Buffer.concat([
    content.subarray(0, start),
    content.subarray(start + first, start + first + second),
    content.subarray(start, start + first),
    content.subarray(start + first + second),
  ]);
  writeFileSync(file, swapped);
  await expect(read(file)).rejects.toMatchObject({ code: 'backup.key' });
});

it('derives a key of its own for each salt, passphrase and key file', async () => {
  const phrase: BackupSecret = { kind: 'passphrase', text: 'correct horse' };
  const file = keyFileSecret(Buffer.from(`${'k'.repeat(40)}\n`), 'key');
  const [one, two] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
  const keys = await Promise.all(
    [phrase, file].flatMap((secret) => [one, two].map((salt) => deriveKey(secret, recipeFor(secret, salt)))),
  );
  expect(new Set(keys.map((each) => each.toString('hex'))).size).toBe(4);
  expect(await deriveKey(keyFileSecret(Buffer.from('k'.repeat(40)), 'key'), recipeFor(file, one))).toEqual(keys[2]);
  await expect(deriveKey(phrase, recipeFor(file, one))).rejects.toMatchObject({ code: 'backup.key' });
  expect(() => keyFileSecret(Buffer.from('short'), 'key')).toThrow('too few');
  const greedy = { ...recipeFor(phrase, one), N: 2 ** 30 };
  await expect(deriveKey(phrase, greedy as ReturnType<typeof recipeFor>)).rejects.toMatchObject({
    code: 'backup.damaged',
  });
});
