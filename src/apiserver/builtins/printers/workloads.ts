/** `kubectl get` for apps, batch and autoscaling. */
import type { Printer } from '../../resource.ts';
import { convertAutoscaler } from '../autoscaler-conversion.ts';
import { age, humanDuration } from '../duration.ts';
import { type Any, clone, items } from '../fields.ts';
import {
  containerCells,
  created,
  formatLabelSelector,
  formatLabels,
  hasTrueCondition,
  printer,
  selectorText,
} from './table.ts';

function jobStatus(job: Any): string {
  if (hasTrueCondition(job, 'Complete')) return 'Complete';
  if (hasTrueCondition(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasTrueCondition(job, type)) ?? 'Running';
}

function completions(job: Any): string {
  const succeeded = job.status?.succeeded ?? 0;
  if (job.spec?.completions !== undefined && job.spec.completions !== null)
    return `${succeeded}/${job.spec.completions}`;
  const parallelism = job.spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: Any, now: number): string {
  const { startTime, completionTime } = job.status ?? {};
  if (!startTime) return '';
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime));
}

function controllerName(object: Any): string {
  const owner = items(object.metadata.ownerReferences).find((reference) => reference.controller);
  if (!owner) return '<none>';
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
  return `${(group ? `${owner.kind}.${group}` : owner.kind).toLowerCase()}/${owner.name}`;
}

function metricText(spec: Any, status: Any): string {
  const type: string = spec.type ?? '';
  const name = type.charAt(0).toLowerCase() + type.slice(1);
  const source = spec[name];
  const current = status?.[name]?.current;
  if (!source) return '<unknown type>';
  const target = source.target ?? {};
  const average = `${current?.averageValue ?? '<unknown>'}/${target.averageValue}`;
  if (type === 'Pods') return average;
  if (type === 'External' || type === 'Object') {
    if (target.averageValue !== undefined) return `${average} (avg)`;
    return `${current?.value ?? '<unknown>'}/${target.value}`;
  }
  if (type !== 'Resource' && type !== 'ContainerResource') return '<unknown type>';
  if (target.averageValue !== undefined) return `${source.name}: ${average}`;
  const used = current?.averageUtilization !== undefined ? `${current.averageUtilization}%` : '<unknown>';
  const wanted = target.averageUtilization !== undefined ? `${target.averageUtilization}%` : '<auto>';
  return `${source.name}: ${used}/${wanted}`;
}

function metrics(autoscaler: Any): string {
  const specs = items(autoscaler.spec?.metrics);
  if (specs.length === 0) return '<none>';
  const texts = specs.map((spec, index) => metricText(spec, autoscaler.status?.currentMetrics?.[index]));
  const shown = texts.slice(0, 2).join(', ');
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

function asV2(autoscaler: Any): Any {
  if (autoscaler.apiVersion !== 'autoscaling/v1') return autoscaler;
  const copy = clone(autoscaler);
  convertAutoscaler(copy, 'autoscaling/v2');
  return copy;
}

const selector = (object: Any) => formatLabelSelector(object.spec?.selector);
const template = (object: Any) => containerCells(object.spec?.template?.spec);

export const workloadPrinters: Record<string, Record<string, Printer>> = {
  apps: {
    Deployment: printer('Name|Ready|Up-to-date|Available|Age|+Containers|+Images|+Selector', (o, now) => [
      o.metadata.name,
      `${o.status?.readyReplicas ?? 0}/${o.spec?.replicas ?? 0}`,
      o.status?.updatedReplicas ?? 0,
      o.status?.availableReplicas ?? 0,
      created(o, now),
      ...template(o),
      selectorText(o.spec?.selector),
    ]),
    ReplicaSet: printer(
      'Name|Desired:integer|Current:integer|Ready:integer|Age|+Containers|+Images|+Selector',
      (o, now) => [
        o.metadata.name,
        o.spec?.replicas ?? 0,
        o.status?.replicas ?? 0,
        o.status?.readyReplicas ?? 0,
        created(o, now),
        ...template(o),
        selector(o),
      ],
    ),
    StatefulSet: printer('Name|Ready|Age|+Containers|+Images', (o, now) => [
      o.metadata.name,
      `${o.status?.readyReplicas ?? 0}/${o.spec?.replicas ?? 0}`,
      created(o, now),
      ...template(o),
    ]),
    DaemonSet: printer(
      'Name|Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|Node Selector|Age|+Containers|+Images|+Selector',
      (o, now) => [
        o.metadata.name,
        o.status?.desiredNumberScheduled ?? 0,
        o.status?.currentNumberScheduled ?? 0,
        o.status?.numberReady ?? 0,
        o.status?.updatedNumberScheduled ?? 0,
        o.status?.numberAvailable ?? 0,
        formatLabels(o.spec?.template?.spec?.nodeSelector),
        created(o, now),
        ...template(o),
        selector(o),
      ],
    ),
    ControllerRevision: printer('Name|Controller|Revision|Age', (o, now) => [
      o.metadata.name,
      controllerName(o),
      o.revision ?? 0,
      created(o, now),
    ]),
  },
  batch: {
    Job: printer('Name|Status|Completions|Duration|Age|+Containers|+Images|+Selector', (o, now) => [
      o.metadata.name,
      jobStatus(o),
      completions(o),
      jobDuration(o, now),
      created(o, now),
      ...template(o),
      selector(o),
    ]),
    CronJob: printer(
      'Name|Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|+Containers|+Images|+Selector',
      (o, now) => [
        o.metadata.name,
        o.spec?.schedule ?? '',
        o.spec?.timeZone ?? '<none>',
        o.spec?.suspend === undefined ? '<unset>' : o.spec.suspend ? 'True' : 'False',
        items(o.status?.active).length,
        o.status?.lastScheduleTime ? age(o.status.lastScheduleTime, now) : '<none>',
        created(o, now),
        ...containerCells(o.spec?.jobTemplate?.spec?.template?.spec),
        formatLabelSelector(o.spec?.jobTemplate?.spec?.selector),
      ],
    ),
  },
  autoscaling: {
    HorizontalPodAutoscaler: printer('Name|Reference|Targets|MinPods|MaxPods|Replicas|Age', (served, now) => {
      const o = asV2(served);
      return [
        o.metadata.name,
        `${o.spec?.scaleTargetRef?.kind ?? ''}/${o.spec?.scaleTargetRef?.name ?? ''}`,
        metrics(o),
        o.spec?.minReplicas !== undefined ? `${o.spec.minReplicas}` : '<unset>',
        o.spec?.maxReplicas ?? 0,
        o.status?.currentReplicas ?? 0,
        created(o, now),
      ];
    }),
    Scale: printer('Name|Desired:integer|Available:integer|Age', (o, now) => [
      o.metadata.name,
      o.spec?.replicas ?? 0,
      o.status?.replicas ?? 0,
      created(o, now),
    ]),
  },
};
