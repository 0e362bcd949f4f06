import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { ipBytes, ipText } from '../x509/ip.ts';
import { fromPem, toPem } from '../x509/pem.ts';
import { parseRequest } from './certificate-request.ts';
import { createCa, issueClient, issueServer, signRequest } from './certificates.ts';
import { Trust } from './trust.ts';

const clock = systemClock;
const DAY = 86_400_000;
const OPENSSL = '/usr/bin/openssl';
const ca = createCa('rookery-ca', { clock });
const dir = mkdtempSync(join(tmpdir(), 'certs-'));
afterAll(() => rmSync(dir, { recursive: true }));

const hosts = ['localhost', 'kubernetes.default.svc', '127.0.0.1', '::1', 'fd00:10::ffff', '::ffff:10.0.0.1'];

describe('certificates', () => {
  it('are signed by an RSA CA that somebody else made, as kubeadm does', () => {
    const [cert, key] = [join(dir, 'rsa.crt'), join(dir, 'rsa.key')];
    const subject = ['-subj', '/CN=kubernetes', '-days', '30', '-nodes'];
    execFileSync(OPENSSL, ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    const brought = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    const client = issueClient(brought, 'kubernetes-admin', ['system:masters'], { clock });
    writeFileSync(join(dir, 'client.crt'), client.cert);
    expect(execFileSync(OPENSSL, ['verify', '-CAfile', cert, join(dir, 'client.crt')]).toString()).toContain('OK');
  });

  it('serve TLS with client certificates both ways', async () => {
    const server = issueServer(ca, 'kube-apiserver', hosts, { clock });
    const client = issueClient(ca, 'jane', ['system:masters', 'dev'], { clock });
    const peer = await new Promise<tls.PeerCertificate>((resolve, reject) => {
      const listener = tls.createServer(
        { ...server, ca: ca.cert, requestCert: true, rejectUnauthorized: true },
        (socket) => {
          resolve(socket.getPeerCertificate());
          socket.end();
          listener.close();
        },
      );
      listener.listen(0, '127.0.0.1', () => {
        const { port } = listener.address() as { port: number };
        tls
          .connect({ host: '127.0.0.1', port, ca: ca.cert, ...client })
          .on('error', reject)
          .resume();
      });
    });
    expect(peer.subject.CN).toBe('jane');
    expect(new Trust(ca.cert).verify(peer.raw, 'client', Date.now())).toMatchObject({
      commonName: 'jane',
      organizations: ['system:masters', 'dev'],
    });
  });

  it('carry every name and address', () => {
    const cert = new X509Certificate(issueServer(ca, 'api', hosts, { clock }).cert);
    for (const host of hosts.slice(0, 2)) expect(cert.checkHost(host)).toBe(host);
    for (const host of hosts.slice(2)) expect(cert.checkIP(host), host).toBe(host);
    expect(cert.checkIP('127.0.0.2')).toBeUndefined();
  });

  it('are read alike by @peculiar/x509', async () => {
    const x509 = await import('@peculiar/x509');
    const issued = issueServer(ca, 'api', hosts, { clock, days: 9000 });
    const cert = new x509.X509Certificate(issued.cert);
    const authority = new x509.X509Certificate(ca.cert);
    expect(await cert.verify({ publicKey: authority.publicKey })).toBe(true);
    expect(await authority.isSelfSigned()).toBe(true);
    expect(cert.issuer).toBe('CN=rookery-ca');
    expect(cert.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(cert.getExtension(x509.KeyUsagesExtension)?.usages).toBe(
      x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
    );
    expect(authority.getExtension(x509.KeyUsagesExtension)?.usages).toBe(
      x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
    );
    expect(authority.getExtension(x509.BasicConstraintsExtension)?.ca).toBe(true);
    expect(cert.getExtension(x509.BasicConstraintsExtension)?.ca).toBe(false);
    expect(cert.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(
      authority.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
    );
    expect(cert.notAfter.getTime()).toBeGreaterThan(Date.now() + 8999 * DAY);
  });

  it('satisfy openssl', () => {
    const paths = { ca: join(dir, 'ca.pem'), leaf: join(dir, 'leaf.pem') };
    writeFileSync(paths.ca, ca.cert);
    writeFileSync(paths.leaf, issueServer(ca, 'api', hosts, { clock }).cert);
    const said = execFileSync(OPENSSL, ['verify', '-x509_strict', '-CAfile', paths.ca, paths.leaf]);
    expect(said.toString()).toContain('OK');
  });
});

describe('trust', () => {
  const trust = new Trust(ca.cert);
  const denied = (cert: string, now: number, why: string) =>
    expect(() => trust.verify(cert, 'client', now)).toThrow(why);

  it('refuses strangers, other uses, wrong times, CAs and garbage', () => {
    const now = Date.now();
    const jane = issueClient(ca, 'jane', [], { clock, days: 1 }).cert;
    expect(trust.verify(jane, 'client', now).organizations).toEqual([]);
    denied(jane, now + 2 * DAY, 'expired');
    denied(jane, now - DAY, 'not valid before');
    denied(issueServer(ca, 'x', ['x'], { clock }).cert, now, 'not meant for a client');
    denied(issueClient(createCa('rookery-ca', { clock }), 'jane', [], { clock }).cert, now, 'unknown authority');
    denied(ca.cert, now, 'CA certificate');
    denied('garbage', now, 'cannot be read');
  });

  it('accepts any of several authorities', () => {
    const next = createCa('next', { clock });
    const both = new Trust(next.cert + ca.cert);
    for (const from of [ca, next]) {
      expect(both.verify(issueClient(from, 'a', [], { clock }).cert, 'client', Date.now()).commonName).toBe('a');
    }
  });

  it('is not fooled by line breaks and separators in a name', () => {
    const user = 'a\nO=system:masters, O=system:masters/O=system:masters+O=x';
    const peer = trust.verify(issueClient(ca, user, ['g\nCN=root', 'ü'], { clock }).cert, 'client', Date.now());
    expect(peer.commonName).toBe(user);
    expect(peer.organizations).toEqual(['g\nCN=root', 'ü']);
  });
});

describe('requests', () => {
  const openssl = (kind: string[], subject: string, extra: string[] = []) =>
    execFileSync(OPENSSL, ['req', '-new', '-nodes', '-keyout', join(dir, 'k'), ...kind, '-subj', subject, ...extra], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();

  it('of each key type are read, checked and signed', () => {
    const kinds = [
      ['-newkey', 'rsa:2048'],
      ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384'],
      ['-newkey', 'ed25519'],
    ];
    for (const kind of kinds) {
      const pem = openssl(kind, '/O=dev/O=ops/CN=jane', ['-addext', 'subjectAltName=DNS:a.b,IP:10.0.0.1,IP:fd00::1']);
      const request = parseRequest(pem);
      expect(request).toMatchObject({
        commonName: 'jane',
        organizations: ['dev', 'ops'],
        dnsNames: ['a.b'],
        ipAddresses: ['10.0.0.1', 'fd00::1'],
        otherNames: [],
      });
      const cert = signRequest(ca, request, ['client'], { clock, days: 1 });
      expect(new Trust(ca.cert).verify(cert, 'client', Date.now())).toMatchObject({
        commonName: 'jane',
        organizations: ['dev', 'ops'],
      });
      expect(new X509Certificate(cert).checkHost('a.b')).toBe('a.b');
      expect(new X509Certificate(cert).publicKey.equals(request.publicKey)).toBe(true);
    }
  });

  it('are refused when the key is not the sender’s, or when they are no requests', () => {
    const der = fromPem(openssl(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], '/CN=jane'))[0]?.der;
    if (!der) throw new Error('no request');
    const swapped = Buffer.from(der);
    const at = swapped.indexOf('jane');
    swapped.write('root', at);
    expect(() => parseRequest(toPem('CERTIFICATE REQUEST', swapped))).toThrow('signature is wrong');
    const spki = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' });
    for (const bad of [
      '',
      'x',
      ca.cert,
      toPem('CERTIFICATE REQUEST', Buffer.from('junk')),
      toPem('CERTIFICATE REQUEST', spki),
    ]) {
      expect(() => parseRequest(bad)).toThrow(expect.objectContaining({ code: 'vault.bad-request' }));
    }
    for (let cut = 0; cut < der.length; cut += 7) {
      expect(() => parseRequest(toPem('CERTIFICATE REQUEST', der.subarray(0, cut)))).toThrow(
        expect.objectContaining({ code: 'vault.bad-request' }),
      );
    }
  });
});

it('knows addresses', () => {
  for (const ip of ['1.2.3.4', '::', '::1', 'fe80::1:2', '1:2:3:4:5:6:7:8', '2001:db8::']) {
    expect(ipText(ipBytes(ip))).toBe(ip);
  }
});
