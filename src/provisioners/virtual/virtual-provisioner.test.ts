import { expect, it } from 'vitest';
import { RookeryError } from '../../errors.ts';
import type { Tenants } from './tenants.ts';
import { VirtualProvisioner } from './virtual-provisioner.ts';

const ref = { id: 'uid', name: 'dev', spec: {} };
const request = { ...ref, resolved: { image: 'rookery' }, initialized: false };

/** A disk that is full, and nothing else. */
const fullDisk = {
  has: () => false,
  ensure: async () => {
    throw new RookeryError('store.full', 'the disk is full', { class: 'retryable', hint: 'make room' });
  },
} as unknown as Tenants;

it.each(['1.35', 'v1.35', 'v1.35.8', undefined])('has Kubernetes %s', async (kubernetesVersion) => {
  const resolved = await new VirtualProvisioner().resolve({ ...ref, spec: { kubernetesVersion } });
  expect(resolved).toEqual({ version: 'v1.35.8', image: 'rookery' });
});

it.each(['1.34', 'v1.35.7', '1.36'])('refuses Kubernetes %s and says which one there is', async (kubernetesVersion) => {
  const resolving = new VirtualProvisioner().resolve({ ...ref, spec: { kubernetesVersion } });
  await expect(resolving).rejects.toThrow(`have Kubernetes v1.35.8, not ${kubernetesVersion}`);
});

it('answers with what blocks when the trouble can pass', async () => {
  expect(await new VirtualProvisioner(fullDisk).ensure(request)).toMatchObject({
    phase: 'blocked',
    reason: 'TenantFailed',
    message: 'the disk is full',
    next: 'make room; tried again every 5 s',
  });
});

it('says that it needs a control plane where there is none', async () => {
  await expect(new VirtualProvisioner().observe(ref)).rejects.toThrow('live in a control plane');
});
