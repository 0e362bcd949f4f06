/** One webhook of a configuration, ready to be matched and called. */
import { EVERYTHING, type LabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type Any, items } from '../../builtins/fields.ts';
import type { ClientConfig } from '../../webhook-client/client-config.ts';
import { MatchConditions } from './match-conditions.ts';
import type { Rule } from './rules.ts';

export interface Hook {
  /** Unique in the cluster: names may repeat among configurations, and once did within them. */
  readonly uid: string;
  readonly configuration: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly clientConfig: ClientConfig;
  /** `failurePolicy: Ignore`. */
  readonly ignoresFailure: boolean;
  readonly matchesEquivalent: boolean;
  readonly sideEffects: string;
  readonly timeoutMs: number;
  readonly reviewVersions: readonly string[];
  /** `reinvocationPolicy: IfNeeded`; mutating ones only. */
  readonly isReinvocable: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: MatchConditions | undefined;
}

export function hooksOf(configuration: KubeObject): Hook[] {
  const { name = '' } = configuration.metadata;
  const seen = new Map<string, number>();
  return items(configuration.webhooks).map((webhook) => {
    const count = seen.get(webhook.name) ?? 0;
    seen.set(webhook.name, count + 1);
    return hookOf(webhook, name, `${name}/${webhook.name}/${count}`);
  });
}

function hookOf(webhook: Any, configuration: string, uid: string): Hook {
  const ignoresFailure = webhook.failurePolicy === 'Ignore';
  const conditions = items(webhook.matchConditions);
  return {
    uid,
    configuration,
    name: webhook.name,
    rules: items(webhook.rules),
    clientConfig: webhook.clientConfig ?? {},
    ignoresFailure,
    matchesEquivalent: webhook.matchPolicy !== 'Exact',
    sideEffects: webhook.sideEffects ?? '',
    timeoutMs: (webhook.timeoutSeconds ?? 10) * 1000,
    reviewVersions: items(webhook.admissionReviewVersions),
    isReinvocable: webhook.reinvocationPolicy === 'IfNeeded',
    namespaceSelector: selectorFromObject(webhook.namespaceSelector) ?? EVERYTHING,
    objectSelector: selectorFromObject(webhook.objectSelector) ?? EVERYTHING,
    conditions: conditions.length > 0 ? new MatchConditions({ sources: conditions, ignoresFailure }) : undefined,
  };
}
