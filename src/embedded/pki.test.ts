import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { Home } from './home.ts';
import { ensurePki } from './pki.ts';

let home: Home;
const ensure = (host = '127.0.0.1', clock = systemClock) => ensurePki(home, [host], clock);

beforeEach(() => {
  home = new Home(mkdtempSync(join(tmpdir(), 'rookery-pki-')));
});
afterEach(() => rmSync(home.path, { recursive: true }));

it('is made once, for its owner only', async () => {
  const made = await ensure();
  expect(await ensure()).toEqual(made);
  for (const name of readdirSync(home.pki(''))) expect(statSync(home.pki(name)).mode & 0o777, name).toBe(0o600);
});

it('is the same for all who start at once', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => ensure()));
  expect(new Set(all.map(({ ca }) => ca.cert)).size).toBe(1);
  const authority = new X509Certificate(all[0]?.ca.cert as string);
  for (const { server } of all) expect(new X509Certificate(server.cert).verify(authority.publicKey)).toBe(true);
  expect((await ensure()).ca).toEqual(all[0]?.ca);
});

it('serves with a new certificate for another host, or when the old one ends soon, by the same CA', async () => {
  const first = await ensure();
  const second = await ensure('10.1.2.3');
  expect(second.ca).toEqual(first.ca);
  expect(new X509Certificate(second.server.cert).checkIP('10.1.2.3')).toBe('10.1.2.3');
  const later = { ...systemClock, now: () => Date.now() + 340 * 86_400_000 };
  const third = await ensure('10.1.2.3', later);
  expect(third.ca).toEqual(first.ca);
  expect(third.server).not.toEqual(second.server);
});

it('says so and leaves the file when it cannot be used', async () => {
  const { ca, server } = await ensure();
  for (const text of ['xx', ca.cert, ca.cert + server.key]) {
    writeFileSync(home.pki('ca.pem'), text);
    await expect(ensure()).rejects.toMatchObject({ code: 'pki.broken' });
    expect(readFileSync(home.pki('ca.pem'), 'utf8')).toBe(text);
  }
});
