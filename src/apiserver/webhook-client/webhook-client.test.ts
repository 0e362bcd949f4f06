import { describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { WebhookClient } from './webhook-client.ts';

describe('a guarded webhook client', () => {
  it.each(['https://127.0.0.1:1/', 'https://localhost:1/', 'https://[::1]:1/', 'https://0x7f.1:1/'])(
    'does not call %s',
    async (url) => {
      const store = { get: () => undefined, list: () => ({ items: [] }) } as never;
      const guarded = new WebhookClient({ store, clock: systemClock, guardsHost: true });
      await expect(guarded.call({ url }, '{}', 2000)).rejects.toThrow('may not reach addresses of the server');
      const open = new WebhookClient({ store, clock: systemClock });
      await expect(open.call({ url }, '{}', 2000)).rejects.toThrow('connect');
    },
  );

  it.each(['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '64:ff9b::7f00:1'])(
    'does not call a Service whose Endpoints are %s',
    async (ip) => {
      const objects: Record<string, object> = {
        '/services': { spec: { ports: [{ port: 443 }] } },
        '/endpoints': { subsets: [{ addresses: [{ ip }], ports: [{ port: 1 }] }] },
      };
      const store = {
        get: ({ resource }: { resource: string }) => ({ object: () => objects[resource] }),
        list: () => ({ items: [] }),
      } as never;
      const guarded = new WebhookClient({ store, clock: systemClock, guardsHost: true });
      const service = { namespace: 'default', name: 'hook' };
      await expect(guarded.call({ service }, '{}', 2000)).rejects.toThrow('may not reach addresses of the server');
    },
  );
});
