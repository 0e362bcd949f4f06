import { expect, it } from 'vitest';
import { kubernetesRelease, vclusterRelease, whyNotUpgrade } from './releases.ts';

it('takes the patch that is released with vcluster for a minor, and an exact patch as it is', () => {
  expect(kubernetesRelease()).toBe('v1.35.0');
  expect(kubernetesRelease('1.33')).toBe('v1.33.4');
  expect(kubernetesRelease('v1.35.8')).toBe('v1.35.8');
});

it('refuses a minor that vcluster does not have, with those it has', () => {
  expect(() => kubernetesRelease('1.13')).toThrow(/1\.13 cannot be had/);
  expect(() => kubernetesRelease('v1.35.0+k3s1')).toThrow(/cannot be had from vcluster/);
});

it('has objects for one minor of vcluster', () => {
  expect(vclusterRelease('v0.34.1')).toBe('0.34.1');
  expect(() => vclusterRelease('0.20.0')).toThrow(/no objects for vcluster 0\.20\.0/);
});

it.each([
  ['v1.34.0', 'v1.35.0', undefined],
  ['v1.35.0', 'v1.35.8', undefined],
  [undefined, 'v1.35.0', undefined],
  ['v1.35.8', 'v1.35.0', /cannot go back to v1\.35\.0/],
  ['v1.35.0', 'v1.34.0', /cannot go back/],
  ['v1.33.4', 'v1.35.0', /skips 1 minor/],
] as const)('from %s to %s', (from, to, why) => {
  const answer = whyNotUpgrade('Kubernetes', from, to);
  if (why) expect(answer).toMatch(why);
  else expect(answer).toBeUndefined();
});
