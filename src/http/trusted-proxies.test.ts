import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { TrustedProxies } from './trusted-proxies.ts';

const request = (remoteAddress: string, headers: Record<string, string>) =>
  ({ socket: { remoteAddress }, headers: { host: 'here:7480', ...headers } }) as unknown as IncomingMessage;
const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'class.example.com' };

describe('headers of proxies', () => {
  it.each([
    ['a trusted address', ['127.0.0.1'], '127.0.0.1', true],
    ['the same, as IPv6 writes it', ['127.0.0.1'], '::ffff:127.0.0.1', true],
    ['a trusted network', ['10.0.0.0/8', 'fd00::/8'], '10.9.8.7', true],
    ['a trusted network of IPv6', ['10.0.0.0/8', 'fd00::/8'], 'fd00::1', true],
    ['anybody else', ['10.0.0.0/8'], '192.0.2.1', false],
    ['nobody is trusted', [], '127.0.0.1', false],
  ])('of %s', (_what, trusted, from, isBelieved) => {
    const proxies = new TrustedProxies(trusted);
    expect(proxies.isSecure(request(from, forwarded))).toBe(isBelieved);
    expect(proxies.hostOf(request(from, forwarded))).toBe(isBelieved ? 'class.example.com' : 'here:7480');
  });

  it('that say nothing, or plain HTTP, or come from several', () => {
    const proxies = new TrustedProxies(['127.0.0.1']);
    expect(proxies.isSecure(request('127.0.0.1', {}))).toBe(false);
    expect(proxies.isSecure(request('127.0.0.1', { 'x-forwarded-proto': 'http' }))).toBe(false);
    expect(proxies.isSecure(request('127.0.0.1', { 'x-forwarded-proto': 'https, http' }))).toBe(true);
    expect(proxies.hostOf(request('127.0.0.1', {}))).toBe('here:7480');
  });

  it.each(['proxy.example.com', '10.0.0.0/33', '10.0.0.0/x', '300.1.1.1'])('%s is no address', (text) => {
    expect(() => new TrustedProxies([text])).toThrow('ROOKERY_TRUSTED_PROXIES');
  });
});
