/** Writes into the status of ValidatingAdmissionPolicies which generation was seen, and what types say against it. */
import { isDeepStrictEqual } from 'node:util';
import type { PolicySpec } from '../admission/policy/policy.ts';
import { typedKinds, typeWarnings } from '../admission/policy/type-checking.ts';
import { LOOPBACK } from '../auth/identity.ts';
import { NO_SUBJECT, offload } from '../offload/offload.ts';
import { builtin, hasReason, type Loop, type LoopContext, scan, warn } from './loop.ts';
import { WorkQueue } from './work-queue.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const MANAGER = 'validatingadmissionpolicy-status-controller';

export const policyStatus: Loop = (context) => {
  const { store, clock } = context;
  const queue = new WorkQueue({
    clock,
    work: (name: string) => update(context, name),
    onError: (name, error) => {
      if (!hasReason(error, 'Conflict', 'NotFound')) warn(context, `status of policy ${name} was not written`, error);
    },
  });
  const stops = [
    store.watch({ resource: POLICIES, afterRv: store.rv }, ({ type, current }) => {
      if (type !== 'DELETED') queue.add(current.key.name);
    }),
    scan(context, POLICIES, (stored) => queue.add(stored.key.name)),
  ];
  return () => {
    for (const stop of stops) stop();
    queue.stop();
  };
};

async function update(context: LoopContext, name: string): Promise<void> {
  const policy = context.store.get({ resource: POLICIES, namespace: '', name })?.object();
  if (!policy) return;
  const { generation, resourceVersion } = policy.metadata;
  if (policy.status?.observedGeneration === generation) return;
  const spec = (policy.spec ?? {}) as PolicySpec;
  const kinds = typedKinds(spec, context.registry);
  const warnings = await offload(typeWarnings(spec, kinds), 'types', [NO_SUBJECT, spec, kinds]);
  const typeChecking = warnings.length > 0 ? { expressionWarnings: warnings } : {};
  const status = { observedGeneration: generation, typeChecking };
  if (isDeepStrictEqual(policy.status, status)) return;
  const resource = builtin(context, GROUP, 'v1', 'validatingadmissionpolicies');
  const body = { metadata: { resourceVersion }, status };
  const options = { identity: LOOPBACK, fieldManager: MANAGER, subresource: 'status' };
  await context.operations.patch(resource, '', name, { type: 'merge', body }, options);
}
