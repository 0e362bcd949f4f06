/**
 * HorizontalPodAutoscaler v1 ⇄ v2 (v2 is stored). What v1 has no field for travels in annotations, under the names
 * upstream uses, so a read and write by a v1 client loses nothing.
 */
import type { KubeObject } from '../../api/object.ts';
import { type Any, items } from './fields.ts';

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

const isCpuUtilization = (metric: Any, holder: 'target' | 'current') =>
  metric.type === 'Resource' &&
  metric.resource?.name === 'cpu' &&
  metric.resource[holder]?.averageUtilization !== undefined;

/** In place, to `autoscaling/v1` or `autoscaling/v2`. */
export function convertAutoscaler(object: KubeObject, apiVersion: string): void {
  if (object.apiVersion === apiVersion) return;
  if (apiVersion === 'autoscaling/v1') toV1(object);
  else toV2(object);
  object.apiVersion = apiVersion;
}

function annotate(object: KubeObject, name: string, value: Any): void {
  object.metadata.annotations = { ...object.metadata.annotations, [name]: JSON.stringify(value) };
}

/** Reads and removes a travelling annotation. */
function take(object: KubeObject, name: string): Any {
  const text = object.metadata.annotations?.[name];
  if (text === undefined) return undefined;
  const { [name]: _, ...rest } = object.metadata.annotations ?? {};
  if (Object.keys(rest).length) object.metadata.annotations = rest;
  else delete object.metadata.annotations;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toV1(object: KubeObject): void {
  const { metrics, behavior, ...spec } = object.spec ?? {};
  const others: Any[] = [];
  for (const metric of items(metrics)) {
    if (spec.targetCPUUtilizationPercentage === undefined && isCpuUtilization(metric, 'target')) {
      spec.targetCPUUtilizationPercentage = metric.resource.target.averageUtilization;
    } else others.push(metric);
  }
  object.spec = spec;
  if (others.length) annotate(object, METRICS, others);
  if (behavior) annotate(object, BEHAVIOR, behavior);
  if (!object.status) return;
  const { currentMetrics, conditions, ...status } = object.status;
  const rest: Any[] = [];
  for (const metric of items(currentMetrics)) {
    if (status.currentCPUUtilizationPercentage === undefined && isCpuUtilization(metric, 'current')) {
      status.currentCPUUtilizationPercentage = metric.resource.current.averageUtilization;
    } else rest.push(metric);
  }
  object.status = status;
  if (rest.length) annotate(object, CURRENT_METRICS, rest);
  if (items(conditions).length) annotate(object, CONDITIONS, conditions);
}

function toV2(object: KubeObject): void {
  const { targetCPUUtilizationPercentage: target, ...spec } = object.spec ?? {};
  const metrics = items(take(object, METRICS));
  // What v1 cannot say by a default it says here: without any metric, 80 % of the requested CPU.
  const share = target ?? (metrics.length === 0 ? 80 : undefined);
  if (share !== undefined) metrics.unshift(cpuMetric('target', { type: 'Utilization', averageUtilization: share }));
  if (metrics.length) spec.metrics = metrics;
  const behavior = take(object, BEHAVIOR);
  if (behavior) spec.behavior = behavior;
  object.spec = spec;
  const currentMetrics = items(take(object, CURRENT_METRICS));
  const conditions = take(object, CONDITIONS);
  if (!object.status) return;
  const { currentCPUUtilizationPercentage: current, ...status } = object.status;
  if (current !== undefined)
    currentMetrics.unshift(cpuMetric('current', { averageUtilization: current, averageValue: '0' }));
  if (currentMetrics.length) status.currentMetrics = currentMetrics;
  if (conditions) status.conditions = conditions;
  object.status = status;
}

function cpuMetric(holder: string, value: Any): Any {
  return { type: 'Resource', resource: { name: 'cpu', [holder]: value } };
}
