/** The bridge between two CAs, judged by OpenSSL; and what a crash or a foreign hand may leave in the file. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock as clock } from '../clock.ts';
import { createCa } from '../vault/certificates.ts';
import { type Authority, bundleOf, ensureAuthority, retireAuthorities, rotateAuthority } from './authority.ts';
import { Home } from './home.ts';
import { ensurePki, servingPki } from './pki.ts';

let home: Home;
let file: string;
beforeEach(() => {
  home = new Home(mkdtempSync(join(tmpdir(), 'rookery-authority-')));
  file = home.pki('ca.pem');
});
afterEach(() => rmSync(home.path, { recursive: true }));

/** As a strict client checks what the server sends: the first certificate, with the rest as help on the way. */
function accepts(trusted: string, chain: string): boolean {
  const [leaf = '', ...others] = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
  const path = (name: string, text: string) => {
    writeFileSync(join(home.path, name), text);
    return join(home.path, name);
  };
  const help = others.length > 0 ? ['-untrusted', path('help.pem', others.join(''))] : [];
  const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-no-CAfile', '-no-CApath', '-no-CAstore'];
  try {
    execFileSync('openssl', [...args, '-trusted', path('trusted.pem', trusted), ...help, path('leaf.pem', leaf)], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

it('is accepted by clients of every CA so far, until they are retired', async () => {
  const authorities: Authority[] = [(await ensurePki(home, ['127.0.0.1'], clock)).authority];
  for (let round = 0; round < 2; round++) {
    authorities.push(await rotateAuthority(file, authorities.at(-1) as Authority, clock));
  }
  const { server, bundle, authority } = await ensurePki(home, ['127.0.0.1'], clock);
  expect(authority).toEqual(authorities.at(-1));
  const cas = authorities.map(({ pair }) => pair.cert);
  expect(new Set(cas).size).toBe(3);
  for (const trusted of [...cas, bundle]) expect(accepts(trusted, server.cert)).toBe(true);
  expect(accepts(createCa('rookery', { clock }).cert, server.cert)).toBe(false);
  const retired = await servingPki(home, await retireAuthorities(file, authority), ['127.0.0.1'], clock);
  expect(retired.bundle).toBe(cas[2]);
  expect(cas.map((trusted) => accepts(trusted, retired.server.cert))).toEqual([false, false, true]);
  expect(readFileSync(file, 'utf8').match(/BEGIN/g)).toHaveLength(2);
});

it('is in one private file that holds the newest key and no other', async () => {
  const first = await ensureAuthority(file, clock);
  const second = await rotateAuthority(file, first, clock);
  expect(await ensureAuthority(file, clock)).toEqual(second);
  expect(second.retiring).toEqual([first.pair.cert]);
  expect(bundleOf(second)).toBe(second.pair.cert + first.pair.cert);
  const text = readFileSync(file, 'utf8');
  expect(text.match(/PRIVATE KEY-----\n[^-]/g)).toHaveLength(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(home.pki(''))).toEqual(['ca.pem']);
});

it('is read as older versions wrote it', async () => {
  const { pair } = await ensureAuthority(file, clock);
  writeFileSync(file, pair.cert + pair.key);
  expect(await ensureAuthority(file, clock)).toEqual({ pair, bridges: [], retiring: [] });
});

it('that ends soon is exchanged at the start, and its clients go on', async () => {
  const first = await ensurePki(home, ['127.0.0.1'], clock);
  const later = { ...clock, now: () => Date.now() + 3630 * 86_400_000 };
  const second = await ensurePki(home, ['127.0.0.1'], later);
  expect(second.ca.cert).not.toBe(first.ca.cert);
  expect(second.bundle).toContain(first.ca.cert);
  expect(Date.parse(new X509Certificate(second.ca.cert).validTo)).toBeGreaterThan(later.now() + 3600 * 86_400_000);
});
