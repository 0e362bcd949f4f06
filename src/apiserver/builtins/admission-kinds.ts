/** Rules of webhook configurations and admission policies. */

import * as check from './admission-validation.ts';
import { type Any, defaultTo, ensure, items } from './fields.ts';
import type { KindRules } from './kind.ts';
import { validateWebhooks } from './webhook-validation.ts';

function defaultWebhooks(object: Any, mutating: boolean): void {
  for (const webhook of items(object.webhooks)) {
    defaultTo(webhook, {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...(mutating ? { reinvocationPolicy: 'Never' } : {}),
    });
    for (const rule of items(webhook.rules)) defaultTo(rule, { scope: '*' });
    if (webhook.clientConfig?.service) defaultTo(webhook.clientConfig.service, { port: 443 });
  }
}

function defaultMatch(match: Any): void {
  if (!match) return;
  defaultTo(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  for (const rule of [...items(match.resourceRules), ...items(match.excludeResourceRules)])
    defaultTo(rule, { scope: '*' });
}

const policyBinding: KindRules = {
  generation: true,
  requireResourceVersion: true,
  defaults: (o) => defaultMatch(ensure(o, 'spec').matchResources),
  validate: check.validatePolicyBinding,
  validateUpdate: check.validatePolicyBinding,
};

export const admissionKinds: Record<string, KindRules> = {
  MutatingWebhookConfiguration: {
    generation: true,
    requireResourceVersion: true,
    defaults: (o) => defaultWebhooks(o, true),
    validate: (o) => validateWebhooks(o, true),
    validateUpdate: (o, old) => validateWebhooks(o, true, old),
  },
  ValidatingWebhookConfiguration: {
    generation: true,
    requireResourceVersion: true,
    defaults: (o) => defaultWebhooks(o, false),
    validate: (o) => validateWebhooks(o, false),
    validateUpdate: (o, old) => validateWebhooks(o, false, old),
  },
  ValidatingAdmissionPolicy: {
    generation: true,
    requireResourceVersion: true,
    status: {},
    defaults: (o) => {
      const spec = ensure(o, 'spec');
      defaultTo(spec, { failurePolicy: 'Fail' });
      defaultMatch(spec.matchConstraints);
    },
    validate: check.validatePolicy,
    validateUpdate: check.validatePolicy,
  },
  ValidatingAdmissionPolicyBinding: policyBinding,
  MutatingAdmissionPolicy: {
    generation: true,
    requireResourceVersion: true,
    defaults: (o) => {
      const spec = ensure(o, 'spec');
      defaultTo(spec, { failurePolicy: 'Fail', reinvocationPolicy: 'Never' });
      defaultMatch(spec.matchConstraints);
    },
  },
  MutatingAdmissionPolicyBinding: policyBinding,
};
