/** Rules of certificate signing requests: who asks, who decided, who signed. */
import { rfc3339 } from '../../clock.ts';
import type { WriteContext } from '../resource.ts';
import { type Any, assign, clone, defaultEmpty, ensure, items } from './fields.ts';
import * as check from './group-validation.ts';
import type { KindRules } from './kind.ts';

/** Who asks is what the server saw, not what the request claims (pkg/registry/certificates). */
function prepareCertificateRequest(object: Any, context: WriteContext): void {
  const spec = ensure(object, 'spec');
  assign(spec, 'username', context.user);
  assign(spec, 'groups', context.groups.length ? [...context.groups] : undefined);
}

function stampConditions(object: Any, old: Any, context: WriteContext): void {
  for (const condition of items(object.status?.conditions)) {
    const before = items(old.status?.conditions).find((c) => c.type === condition.type);
    defaultEmpty(condition, { status: 'True', lastUpdateTime: rfc3339(context.now) });
    if (!condition.lastTransitionTime) {
      condition.lastTransitionTime =
        before?.status === condition.status ? before.lastTransitionTime : rfc3339(context.now);
    }
  }
}

const certificateRequest: KindRules = {
  status: {},
  prepareCreate: prepareCertificateRequest,
  prepareUpdate: (o, old) => assign(o, 'spec', clone(old.spec)),
  prepareSubresource: (name, o, old, context) => {
    if (name === 'approval') {
      const decided = items(o.status?.conditions);
      assign(o, 'spec', clone(old.spec));
      o.status = { ...clone(old.status), conditions: decided };
      if (decided.length === 0) delete o.status.conditions;
    } else if (name === 'status') {
      const decisions = items(old.status?.conditions).filter((c) => c.type === 'Approved' || c.type === 'Denied');
      const others = items(o.status?.conditions).filter((c) => c.type !== 'Approved' && c.type !== 'Denied');
      const conditions = [...decisions, ...others];
      o.status = { ...o.status };
      assign(o.status, 'conditions', conditions.length ? conditions : undefined);
    }
    stampConditions(o, old, context);
  },
  validate: check.validateCertificateRequest,
  validateSubresource: {
    approval: check.validateCertificateRequestUpdate,
    status: check.validateCertificateRequestUpdate,
  },
};

export const certificateKinds: Record<string, KindRules> = {
  CertificateSigningRequest: certificateRequest,
  ClusterTrustBundle: { requireResourceVersion: true },
};
