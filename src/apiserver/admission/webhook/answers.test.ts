// Answers of webhooks that are made to do harm.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { refusedText } from '../../webhook-client/call-error.ts';
import type { WebhookClient } from '../../webhook-client/webhook-client.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { type CallContext, callHook } from './call-hook.ts';
import type { Invocation } from './match.ts';
import { patched } from './patched.ts';
import { verdictOf } from './review.ts';

const answer = (response: object) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: '1', allowed: true, ...response },
});

const invocation = {
  hook: { name: 'a.example.com', reviewVersions: ['v1'], timeoutMs: 1000, clientConfig: {} },
  resource: { group: '', version: 'v1', plural: 'things', kind: 'Thing', custom: { prune: () => {} } },
  kind: { group: '', version: 'v1', kind: 'Thing' },
} as unknown as Invocation;

const object = (keys: number) =>
  ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    data: Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, `v${i}`])),
  }) as unknown as KubeObject;

describe('answers of webhooks', () => {
  it('have audit annotations by name or are none', () => {
    expect(() => verdictOf(answer({ auditAnnotations: 'x'.repeat(1_000_000) }), 'v1', '1', false)).toThrow(
      'json: cannot unmarshal string into Go struct field AdmissionResponse.response.auditAnnotations',
    );
  });

  it.each([1000, 400.5, 1e12, '500'])('refuse with a code that can be sent, not %s', async (code) => {
    const status = { code, message: 'no', details: 'none' };
    const call = async () => answer({ allowed: false, status });
    const context = {
      client: { call } as unknown as WebhookClient,
      clock: { now: () => 0 },
      random: { uuid: () => '1' },
    } as unknown as CallContext;
    const { resource } = invocation;
    const attributes = { operation: 'CREATE', resource, subresource: '', identity: { user: 'a', groups: [] } };
    await expect(
      callHook(context, invocation, attributes as unknown as AdmissionAttributes, undefined, undefined, false),
    ).rejects.toMatchObject({ code: 400, message: 'admission webhook "a.example.com" denied the request: no' });
  });

  it('name the operation that does not fit without doing all the others again', async () => {
    const operations = Array.from({ length: 9_000 }, (_, i) => ({ op: 'add', path: `/data/n${i}`, value: 'x' }));
    const started = process.cpuUsage();
    await expect(
      patched(invocation, [...operations, { op: 'remove', path: '/data/none' }], object(5_000), undefined),
    ).rejects.toThrow('remove operation does not apply: doc is missing path: "/data/none": missing value');
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });

  it('are quoted in part', () => {
    expect(refusedText(403, 'text/plain', 'x'.repeat(5_000_000))).toHaveLength(2048);
  });
});
