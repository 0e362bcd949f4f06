/**
 * PodSecurity: namespaces say by labels what their pods may do. Pods are refused, templates of pods only warned about
 * (their controllers' pods will be refused), and a namespace that becomes stricter is told what runs in it.
 */
import type { KubeObject } from '../../../api/object.ts';
import { invalid } from '../../status.ts';
import { type AdmissionAttributes, type AdmissionPlugin, listObjects, refuse } from '../admission.ts';
import { violationsOf } from './evaluate.ts';
import { containersOf, type PodLike } from './pod.ts';
import { describe, isSame, type LevelVersion, type Policy, readPolicy, strictness } from './policy.ts';
import { detailsOf, reasonsOf } from './wording.ts';

const TEMPLATES: Record<string, (object: KubeObject) => PodLike | undefined> = {
  '/podtemplates': (object) => object.template,
  '/replicationcontrollers': ({ spec }) => spec?.template,
  'apps/replicasets': ({ spec }) => spec?.template,
  'apps/deployments': ({ spec }) => spec?.template,
  'apps/daemonsets': ({ spec }) => spec?.template,
  'apps/statefulsets': ({ spec }) => spec?.template,
  'batch/jobs': ({ spec }) => spec?.template,
  'batch/cronjobs': ({ spec }) => spec?.jobTemplate?.spec?.template,
};
/** Below a pod, only these may change what it runs. */
const POD_PARTS = new Set(['', 'ephemeralcontainers', 'resize']);
/** Of the pods in a namespace that becomes stricter. */
const MOST_PODS = 3000;

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  handles({ operation, resource, subresource }) {
    if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
    const kind = `${resource.group}/${resource.plural}`;
    if (kind === '/pods') return POD_PARTS.has(subresource);
    return subresource === '' && (kind === '/namespaces' || kind in TEMPLATES);
  },
  validate(attributes) {
    const { object, resource } = attributes;
    if (!object) return;
    const kind = `${resource.group}/${resource.plural}`;
    if (kind === '/namespaces') return validateNamespace(attributes, object);
    const policy = policyOf(attributes);
    if (kind === '/pods') return validatePod(attributes, object, policy);
    const template = TEMPLATES[kind]?.(object);
    if (template) warn(attributes, template, policy);
  },
};

function policyOf({ store, namespace }: AdmissionAttributes): Policy {
  const found = store.get({ resource: '/namespaces', namespace: '', name: namespace })?.object();
  return readPolicy(found?.metadata.labels).policy;
}

function validatePod(attributes: AdmissionAttributes, pod: KubeObject, policy: Policy): void {
  if (attributes.old && !changesWhatRuns(pod, attributes.old)) return;
  const violations = violationsOf(policy.enforce, pod);
  if (violations.length === 0) return warn(attributes, pod, policy);
  throw refuse(attributes, `violates PodSecurity "${describe(policy.enforce)}": ${detailsOf(violations)}`);
}

function changesWhatRuns(pod: PodLike, old: PodLike): boolean {
  const images = ({ spec }: PodLike) =>
    containersOf(spec ?? {})
      .map(({ name, image }) => `${name} ${image}`)
      .join('\n');
  return images(pod) !== images(old);
}

function warn({ warnings }: AdmissionAttributes, pod: PodLike, { warn: level }: Policy): void {
  const violations = violationsOf(level, pod);
  if (violations.length > 0) {
    warnings?.push(`would violate PodSecurity "${describe(level)}": ${detailsOf(violations)}`);
  }
}

function validateNamespace(attributes: AdmissionAttributes, namespace: KubeObject): void {
  const { old, warnings } = attributes;
  const { policy, errors } = readPolicy(namespace.metadata.labels);
  const before = old && readPolicy(old.metadata.labels);
  const isNews = !before || JSON.stringify(before.errors) !== JSON.stringify(errors);
  if (errors.length > 0 && isNews) throw invalid('', 'Namespace', namespace.metadata.name ?? '', errors);
  if (!before || !isStricter(policy.enforce, before.policy.enforce)) return;
  const name = namespace.metadata.name ?? '';
  warnings?.push(...warningsOfPods(listObjects(attributes.store, '/pods', name), name, policy.enforce));
}

function isStricter(now: LevelVersion, before: LevelVersion): boolean {
  if (isSame(now, before) || now.level === 'privileged') return false;
  return now.minor !== before.minor || strictness(now) > strictness(before);
}

/** Pods with the same faults are told of together, by the first of their names. */
function warningsOfPods(pods: readonly KubeObject[], namespace: string, level: LevelVersion): string[] {
  const faults = new Map<string, string[]>();
  for (const pod of pods.slice(0, MOST_PODS)) {
    const violations = violationsOf(level, pod);
    if (violations.length === 0) continue;
    const reasons = reasonsOf(violations);
    faults.set(reasons, [...(faults.get(reasons) ?? []), pod.metadata.name ?? '']);
  }
  const warnings: string[] = [];
  if (pods.length > MOST_PODS) {
    const some = `${MOST_PODS} of ${pods.length}`;
    warnings.push(`new PodSecurity enforce level only checked against the first ${some} existing pods`);
  }
  if (faults.size > 0) {
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${describe(level)}"`,
    );
  }
  const told = [...faults].map(([reasons, names]) => `${named(names.sort())}: ${reasons}`);
  return [...warnings, ...told.sort()];
}

function named([first = '', ...others]: string[]): string {
  if (others.length === 0) return first;
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
}
