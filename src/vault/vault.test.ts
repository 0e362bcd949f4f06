import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPrivate, writePrivate } from './files.ts';
import { Keyring } from './keyring.ts';
import { storeSealer } from './sealer.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vault-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const memoryMeta = () => {
  const map = new Map<string, string>();
  return { get: (name: string) => map.get(name), set: (name: string, value: string) => void map.set(name, value) };
};

describe('private files', () => {
  it('are 0600, replaced whole, and leave no drafts', async () => {
    const path = join(dir, 'deep', 'key');
    await writePrivate(path, 'one');
    await writePrivate(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'deep')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(dir, 'deep'))).toEqual(['key']);
  });

  it('are made by one of many', async () => {
    const path = join(dir, 'key');
    const made = await Promise.all([1, 2, 3, 4].map((n) => createPrivate(path, String(n))));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(readFileSync(path, 'utf8')).toBe(String(made.indexOf(true) + 1));
  });
});

describe('keyring', () => {
  it('is made on first use and the same ever after, also for two at once', async () => {
    const file = join(dir, 'keys.json');
    const [a, b] = await Promise.all([Keyring.open(file), Keyring.open(file)]);
    const wrapped = a.wrap(Buffer.from('secret'), 'x');
    expect(b.unwrap(wrapped, 'x').toString()).toBe('secret');
    expect((await Keyring.open(file)).unwrap(wrapped, 'x').toString()).toBe('secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('says what is wrong: context, missing key, other installation, broken file', async () => {
    const file = join(dir, 'keys.json');
    const ring = await Keyring.open(file);
    const wrapped = ring.wrap(Buffer.from('secret'), 'x');
    expect(() => ring.unwrap(wrapped, 'y')).toThrow(expect.objectContaining({ code: 'vault.wrong-key' }));
    expect(() => ring.unwrap(`9${wrapped}`, 'x')).toThrow(expect.objectContaining({ code: 'vault.missing-key' }));
    const other = await Keyring.open(join(dir, 'other.json'));
    expect(() => other.unwrap(wrapped, 'x')).toThrow(expect.objectContaining({ code: 'vault.wrong-key' }));
    for (const text of ['', '{}', '{"version":2}', '{"version":1,"keys":{"1":"abcd"}}']) {
      writeFileSync(file, text);
      await expect(Keyring.open(file)).rejects.toMatchObject({ code: 'vault.broken' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });
});

describe('store sealer', () => {
  it('binds a value to its context', async () => {
    const sealer = storeSealer(await Keyring.open(join(dir, 'k')), memoryMeta(), 's');
    const sealed = sealer.seal('grüße', 'row 1');
    expect(sealer.open(sealed, 'row 1')).toBe('grüße');
    expect(sealed.includes('gr')).toBe(false);
    expect(() => sealer.open(sealed, 'row 2')).toThrow(expect.objectContaining({ code: 'vault.unreadable-value' }));
    sealed[sealed.length - 20] = (sealed[sealed.length - 20] ?? 0) ^ 1;
    expect(() => sealer.open(sealed, 'row 1')).toThrow(expect.objectContaining({ code: 'vault.unreadable-value' }));
    expect(() => sealer.open(Buffer.from('x'), 'row 1')).toThrow(
      expect.objectContaining({ code: 'vault.unreadable-value' }),
    );
  });

  it('takes a new key for new data after a rotation and still opens the old', async () => {
    const file = join(dir, 'k');
    const ring = await Keyring.open(file);
    const meta = memoryMeta();
    const old = storeSealer(ring, meta, 's').seal('old', 'c');
    expect(storeSealer(ring, meta, 's').seal('same key', 'c').readUInt32BE(1)).toBe(1);
    await ring.rotate();
    const after = storeSealer(ring, meta, 's');
    expect(after.isCurrent(old)).toBe(true);
    after.renew();
    expect(after.isCurrent(old)).toBe(false);
    const fresh = after.seal('new', 'c');
    expect([old, fresh].map((sealed) => sealed.readUInt32BE(1))).toEqual([1, 2]);
    const reopened = storeSealer(await Keyring.open(file), meta, 's');
    expect([old, fresh].map((sealed) => reopened.open(sealed, 'c'))).toEqual(['old', 'new']);
    expect(() => storeSealer(ring, meta, 'another store')).toThrow(
      expect.objectContaining({ code: 'vault.wrong-key' }),
    );
  });
});
