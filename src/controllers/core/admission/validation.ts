/** What is refused when an object of Cluster API is written, beyond its schema; upstream does the same in its webhooks. */
import { matchesLabels, SelectorError, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { machineDeployments, machineHealthChecks, machineSets, machines } from '../../../api/resources.ts';
import { type FieldError, field } from '../../../apiserver/index.ts';
import { isIntOrPercent } from '../int-or-percent.ts';
import { PREFLIGHT_CHECKS } from '../machine-set/preflight.ts';
import { ANNOTATION, LABEL } from '../names.ts';

type Validator = (object: KubeObject, old: KubeObject | undefined) => FieldError[];

export const VALIDATORS: Record<string, Validator> = {
  [machines.plural]: (machine) => [
    ...version(machine.spec, 'spec'),
    ...taints(machine.spec, 'spec', machine.metadata.labels),
  ],
  [machineSets.plural]: pool,
  [machineDeployments.plural]: machineDeployment,
  [machineHealthChecks.plural]: machineHealthCheck,
};

const SEMVER = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const SHORTEST_STARTUP_SECONDS = 30;

function pool(object: KubeObject): FieldError[] {
  const { spec, metadata } = object;
  const { template } = spec;
  const errors = [...version(template.spec, 'spec.template.spec'), ...taints(template.spec, 'spec.template.spec')];
  if (spec.clusterName !== template.spec?.clusterName) {
    const detail = 'spec.clusterName and spec.template.spec.clusterName must be set to the same value';
    errors.push(field.invalid('spec.clusterName', spec.clusterName, detail));
  }
  const selector = parsed(spec.selector, errors);
  if (selector && !matchesLabels(selector, template.metadata?.labels)) {
    const labels = template.metadata?.labels ?? {};
    errors.push(field.invalid('spec.template.metadata.labels', labels, 'must match spec.selector'));
  }
  const naming: string | undefined = spec.machineNaming?.template;
  if (naming !== undefined && !/\{\{\s*\.random\s*\}\}/.test(naming)) {
    errors.push(field.invalid('spec.machineNaming.template', naming, 'invalid template, {{ .random }} is missing'));
  }
  const skipped = (metadata.annotations?.[ANNOTATION.skipPreflight] ?? '').split(',').map((name) => name.trim());
  const unknown = skipped.filter((name) => name && !(PREFLIGHT_CHECKS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    const detail = `skipped preflight checks must be among: ${PREFLIGHT_CHECKS.join(', ')}`;
    errors.push(field.invalid(`metadata.annotations.${ANNOTATION.skipPreflight}`, unknown.join(','), detail));
  }
  return errors;
}

function machineDeployment(object: KubeObject): FieldError[] {
  const errors = pool(object);
  const { name = '' } = object.metadata;
  if (!LABEL_VALUE.test(name)) {
    errors.push(field.invalid('metadata.name', name, 'must be a valid label value: machines are found by it'));
  }
  const { maxSurge, maxUnavailable } = object.spec.rollout?.strategy?.rollingUpdate ?? {};
  const path = 'spec.rollout.strategy.rollingUpdate';
  errors.push(...count(`${path}.maxSurge`, maxSurge), ...count(`${path}.maxUnavailable`, maxUnavailable));
  if (maxSurge === 0 && maxUnavailable === 0) {
    errors.push(field.invalid(path, maxSurge, 'maxUnavailable and maxSurge cannot both be 0'));
  }
  errors.push(...count('spec.remediation.maxInFlight', object.spec.remediation?.maxInFlight));
  return errors;
}

function machineHealthCheck({ spec }: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const selector = parsed(spec.selector, errors);
  if (selector?.length === 0) errors.push(field.required('spec.selector', 'selector must not be empty'));
  const named: string | undefined = spec.selector?.matchLabels?.[LABEL.clusterName];
  if (named !== undefined && named !== spec.clusterName) {
    const detail = 'cannot specify a cluster selector other than the one specified by clusterName';
    errors.push(field.invalid('spec.selector', spec.selector, detail));
  }
  const startup: number | undefined = spec.checks?.nodeStartupTimeoutSeconds;
  if (startup !== undefined && startup !== 0 && startup < SHORTEST_STARTUP_SECONDS) {
    errors.push(
      field.invalid('spec.checks.nodeStartupTimeoutSeconds', startup, 'must be at least 30s, or 0 for never'),
    );
  }
  const path = 'spec.remediation.triggerIf.unhealthyLessThanOrEqualTo';
  errors.push(...count(path, spec.remediation?.triggerIf?.unhealthyLessThanOrEqualTo));
  return errors;
}

function version(spec: KubeObject['spec'], path: string): FieldError[] {
  if (!spec?.version || SEMVER.test(spec.version)) return [];
  return [field.invalid(`${path}.version`, spec.version, 'must be a valid semantic version')];
}

/** A worker that claims to be a control plane would keep its own pods away. */
function taints(spec: KubeObject['spec'], path: string, labels: Record<string, string> = {}): FieldError[] {
  if (LABEL.controlPlane in labels) return [];
  return (spec?.taints ?? []).flatMap(({ key }: { key: string }, index: number) =>
    key === 'node-role.kubernetes.io/control-plane'
      ? [field.invalid(`${path}.taints[${index}].key`, key, 'taint is not allowed for worker Machines')]
      : [],
  );
}

function count(path: string, value: number | string | undefined): FieldError[] {
  if (value === undefined || isIntOrPercent(value)) return [];
  return [field.invalid(path, value, 'must be either an int or a percentage')];
}

function parsed(selector: KubeObject['spec'], errors: FieldError[]) {
  try {
    return selectorFromObject(selector) ?? [];
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    errors.push(field.invalid('spec.selector', selector, error.message));
    return undefined;
  }
}
