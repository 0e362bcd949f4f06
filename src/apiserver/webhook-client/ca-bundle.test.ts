import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { isCaBundle } from './ca-bundle.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const BEGIN = '-----BEGIN CERTIFICATE-----\n';

describe('a CA bundle', () => {
  it('is one or more certificates', () => {
    expect(isCaBundle(base64(rootCertificates.slice(0, 3).join('\n')))).toBe(true);
    expect(isCaBundle(base64('no certificate'))).toBe(false);
    expect(isCaBundle(base64(`${BEGIN}bm9uZQ==\n-----END CERTIFICATE-----`))).toBe(false);
  });

  it('is read in one pass, whatever stands in it', () => {
    const started = process.cpuUsage();
    expect(isCaBundle(base64(BEGIN.repeat(40_000)))).toBe(false);
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });
});
