/** Names written in every form, read by the one reader that signing and authentication share. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { oddRequests } from '../../test/harness/odd-requests.ts';
import { systemClock as clock } from '../clock.ts';
import { parseRequest } from '../vault/certificate-request.ts';
import { createCa, signRequest } from '../vault/certificates.ts';
import { Trust } from '../vault/trust.ts';
import { oid, parse, parseOid, parseOne } from './der.ts';

const ca = createCa('ca', { clock });
const requests = oddRequests('system:masters', 'jane');

describe('a group in a request', () => {
  for (const { how, pem, organizations } of requests.filter((each) => each.organizations)) {
    it(`${how}: is read, and the certificate says the same`, () => {
      const request = parseRequest(pem);
      expect(request).toMatchObject({ commonName: 'jane', organizations });
      const certificate = signRequest(ca, request, ['client'], { clock });
      expect(new Trust(ca.cert).verify(certificate, 'client', Date.now())).toMatchObject({
        commonName: 'jane',
        organizations,
      });
      const byOpenssl = new X509Certificate(certificate).toLegacyObject().subject as unknown as {
        O: string | string[];
      };
      expect([byOpenssl.O].flat()).toEqual(organizations);
    });
  }

  for (const { how, pem } of requests.filter((each) => !each.organizations)) {
    it(`${how}: is refused`, () => {
      expect(() => parseRequest(pem)).toThrow(expect.objectContaining({ code: 'vault.bad-request' }));
    });
  }
});

it('a certificate that names another subject than was approved is thrown away', () => {
  const request = parseRequest(requests[0]?.pem ?? '');
  for (const approved of [{ organizations: [] }, { organizations: ['devs'] }, { commonName: 'joe' }]) {
    expect(() => signRequest(ca, { ...request, ...approved }, ['client'], { clock })).toThrow('another subject');
  }
});

it('DER has one spelling', () => {
  expect(parseOid(parseOne(oid('2.5.4.10')).content)).toBe('2.5.4.10');
  expect(parse(Buffer.from([0x05, 0x00, 0x05, 0x00]))).toHaveLength(2);
  expect(() => parseOne(Buffer.from([0x05, 0x00, 0x05, 0x00]))).toThrow('exactly one');
  for (const bytes of [
    [0x05],
    [0x0c, 0x80, 0, 0],
    [0x0c, 0x81, 1, 97],
    [0x0c, 0x82, 0, 1, 97],
    [0x1f, 0x0c, 0],
    [0x0c, 2, 97],
  ]) {
    expect(() => parse(Buffer.from(bytes)), String(bytes)).toThrow('not DER');
  }
});
