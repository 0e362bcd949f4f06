import { describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { isOfHost } from './host-guard.ts';
import { WebhookClient } from './webhook-client.ts';

describe('the guard of the host', () => {
  it('knows the addresses of this machine and its link', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '0.0.0.0', '169.254.169.254', '::1', '::', 'fe80::1']) {
      expect(isOfHost(address), address).toBe(true);
    }
    expect(isOfHost('::ffff:127.0.0.1')).toBe(true);
    for (const address of ['10.0.0.1', '192.168.1.1', '8.8.8.8', '2001:db8::1', 'localhost']) {
      expect(isOfHost(address), address).toBe(false);
    }
  });

  it.each(['https://127.0.0.1:1/', 'https://localhost:1/', 'https://[::1]:1/', 'https://0x7f.1:1/'])(
    'keeps webhooks from %s where it is asked for',
    async (url) => {
      const store = { get: () => undefined, list: () => ({ items: [] }) } as never;
      const guarded = new WebhookClient({ store, clock: systemClock, guardsHost: true });
      await expect(guarded.call({ url }, '{}', 2000)).rejects.toThrow('may not call addresses of the server');
      const open = new WebhookClient({ store, clock: systemClock });
      await expect(open.call({ url }, '{}', 2000)).rejects.toThrow('connect');
    },
  );
});
