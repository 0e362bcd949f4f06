/** Containers of a pod: names, images, ports, mounts, probes, resources. */
import { type FieldError, field } from '../../status.ts';
import { label, nonNegative, oneOf, portOrName } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { httpHeaderName, portName, portNumber, rangeText } from '../names.ts';
import { validateResources } from '../resource-list.ts';
import { validateEnv } from './env-validation.ts';
import { descendingPath } from './volume-validation.ts';

const MAX_ID = 2147483647;
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];
const INIT_ONLY = 'may not be set for init containers without restartPolicy=Always';

function validatePorts(ports: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of items(ports).entries()) {
    const here = `${path}[${index}]`;
    if (port.name) {
      const texts = portName(port.name);
      for (const text of texts) errors.push(field.invalid(`${here}.name`, port.name, text));
      if (texts.length === 0 && names.has(port.name)) errors.push(field.duplicate(`${here}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) errors.push(field.required(`${here}.containerPort`));
    else
      for (const text of portNumber(port.containerPort))
        errors.push(field.invalid(`${here}.containerPort`, port.containerPort, text));
    if (port.hostPort)
      for (const text of portNumber(port.hostPort)) errors.push(field.invalid(`${here}.hostPort`, port.hostPort, text));
    errors.push(...oneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], `${here}.protocol`));
  }
  return errors;
}

function validateHandler(handler: Any, path: string): FieldError[] {
  const given = HANDLERS.filter((name) => handler[name]);
  const errors: FieldError[] = [];
  for (const [order, name] of given.entries()) {
    const here = `${path}.${name}`;
    const action = handler[name];
    if (order > 0) errors.push(field.forbidden(here, 'may not specify more than 1 handler type'));
    else if (name === 'exec') {
      if (items(action.command).length === 0) errors.push(field.required(`${here}.command`));
    } else if (name === 'httpGet') {
      if (!action.path) errors.push(field.required(`${here}.path`));
      errors.push(...portOrName(action.port, `${here}.port`));
      if (!['HTTP', 'HTTPS'].includes(action.scheme)) {
        errors.push(field.notSupported(`${here}.scheme`, action.scheme, ['HTTP', 'HTTPS']));
      }
      for (const header of items(action.httpHeaders)) {
        for (const text of httpHeaderName(header.name ?? ''))
          errors.push(field.invalid(`${here}.httpHeaders`, header.name, text));
      }
    } else if (name !== 'sleep') errors.push(...portOrName(action.port, `${here}.port`));
  }
  if (given.length === 0) errors.push(field.required(path, 'must specify a handler type'));
  return errors;
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function validateProbe(probe: Any, path: string, kind: 'liveness' | 'readiness' | 'startup'): FieldError[] {
  if (!probe) return [];
  const errors = validateHandler(probe, path);
  for (const name of PROBE_NUMBERS) errors.push(...nonNegative(probe[name], `${path}.${name}`));
  const grace = probe.terminationGracePeriodSeconds;
  const gracePath = `${path}.terminationGracePeriodSeconds`;
  if (typeof grace === 'number' && grace <= 0) errors.push(field.invalid(gracePath, grace, 'must be greater than 0'));
  if (kind === 'readiness') {
    if (grace !== undefined) errors.push(field.invalid(gracePath, grace, 'must not be set for readinessProbes'));
  } else if (probe.successThreshold !== 1) {
    errors.push(field.invalid(`${path}.successThreshold`, probe.successThreshold, 'must be 1'));
  }
  return errors;
}

function validateLifecycle(container: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['postStart', 'preStop']) {
    const handler = container.lifecycle?.[name];
    if (handler) errors.push(...validateHandler(handler, `${path}.lifecycle.${name}`));
  }
  errors.push(...validateProbe(container.livenessProbe, `${path}.livenessProbe`, 'liveness'));
  errors.push(...validateProbe(container.readinessProbe, `${path}.readinessProbe`, 'readiness'));
  errors.push(...validateProbe(container.startupProbe, `${path}.startupProbe`, 'startup'));
  return errors;
}

function validateMounts(container: Any, volumes: Map<string, Any>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const points = new Set<string>();
  const devices = items(container.volumeDevices);
  for (const [index, mount] of items(container.volumeMounts).entries()) {
    const here = `${path}.volumeMounts[${index}]`;
    if (!mount.name) errors.push(field.required(`${here}.name`));
    if (!volumes.has(mount.name)) {
      errors.push({
        type: 'FieldValueNotFound',
        field: `${here}.name`,
        message: `Not found: ${JSON.stringify(mount.name ?? '')}`,
      });
    }
    if (!mount.mountPath) errors.push(field.required(`${here}.mountPath`));
    if (points.has(mount.mountPath)) errors.push(field.invalid(`${here}.mountPath`, mount.mountPath, 'must be unique'));
    points.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      errors.push(field.invalid(`${here}.name`, mount.name, 'must not already exist in volumeDevices'));
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      const text = 'must not already exist as a path in volumeDevices';
      errors.push(field.invalid(`${here}.mountPath`, mount.mountPath, text));
    }
    if (mount.subPath) errors.push(...descendingPath(mount.subPath, `${path}.volumeMounts.subPath`));
    if (mount.subPathExpr) {
      if (mount.subPath) {
        const text = 'subPathExpr and subPath are mutually exclusive';
        errors.push(field.invalid(`${here}.subPathExpr`, mount.subPathExpr, text));
      }
      errors.push(...descendingPath(mount.subPathExpr, `${path}.volumeMounts.subPathExpr`));
    }
  }
  for (const [index, device] of devices.entries()) {
    const here = `${path}.volumeDevices[${index}]`;
    if (!device.name) errors.push(field.required(`${here}.name`));
    if (!device.devicePath) errors.push(field.required(`${here}.devicePath`));
    if (device.name && !volumes.has(device.name)) {
      errors.push({
        type: 'FieldValueNotFound',
        field: `${here}.name`,
        message: `Not found: ${JSON.stringify(device.name)}`,
      });
    }
  }
  return errors;
}

function validateSecurityContext(context: Any, path: string): FieldError[] {
  if (!context) return [];
  const errors: FieldError[] = [];
  for (const name of ['runAsUser', 'runAsGroup']) {
    const id = context[name];
    if (typeof id === 'number' && (id < 0 || id > MAX_ID)) {
      errors.push(field.invalid(`${path}.${name}`, id, rangeText(0, MAX_ID)));
    }
  }
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) {
      errors.push(
        field.invalid(
          path,
          asGoStruct(context),
          'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
        ),
      );
    }
    if (items(context.capabilities?.add).includes('CAP_SYS_ADMIN')) {
      const text = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
      errors.push(field.invalid(path, asGoStruct(context), text));
    }
  }
  return errors;
}

/** The names and order Go's own type has: messages show it that way. */
const CONTEXT_FIELDS = [
  'Capabilities',
  'Privileged',
  'SELinuxOptions',
  'WindowsOptions',
  'RunAsUser',
  'RunAsGroup',
  'RunAsNonRoot',
  'ReadOnlyRootFilesystem',
  'AllowPrivilegeEscalation',
  'ProcMount',
  'SeccompProfile',
  'AppArmorProfile',
];

function asGoStruct(context: Any): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of CONTEXT_FIELDS) {
    const own = name === 'SELinuxOptions' ? 'seLinuxOptions' : name.charAt(0).toLowerCase() + name.slice(1);
    shown[name] = context[own] ?? null;
  }
  const { add = null, drop = null } = context.capabilities ?? {};
  if (context.capabilities) shown.Capabilities = { Add: add, Drop: drop };
  return shown;
}

export function validateContainer(container: Any, volumes: Map<string, Any>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!container.name) errors.push(field.required(`${path}.name`));
  else errors.push(...label(container.name, `${path}.name`));
  if (!container.image) errors.push(field.required(`${path}.image`));
  const policies = ['File', 'FallbackToLogsOnError'];
  errors.push(...oneOf(container.terminationMessagePolicy, policies, `${path}.terminationMessagePolicy`));
  errors.push(...validatePorts(container.ports, `${path}.ports`));
  errors.push(...validateEnv(container, path));
  errors.push(...validateMounts(container, volumes, path));
  errors.push(...oneOf(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], `${path}.imagePullPolicy`));
  errors.push(...validateResources(container.resources, `${path}.resources`));
  errors.push(...validateSecurityContext(container.securityContext, `${path}.securityContext`));
  return errors;
}

function hostPortConflicts(containers: Any[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [at, port] of items(container.ports).entries()) {
      if (!port.hostPort) continue;
      const text = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(text)) errors.push(field.duplicate(`${path}[${index}].ports[${at}].hostPort`, text));
      taken.add(text);
    }
  }
  return errors;
}

export function validateContainers(spec: Any, volumes: Map<string, Any>, path: string): FieldError[] {
  const containers = items(spec.containers);
  if (containers.length === 0) return [field.required(`${path}.containers`)];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const here = `${path}.containers[${index}]`;
    errors.push(...validateContainer(container, volumes, here));
    if (names.has(container.name)) errors.push(field.duplicate(`${here}.name`, container.name));
    names.add(container.name);
    errors.push(...validateLifecycle(container, here));
  }
  errors.push(...hostPortConflicts(containers, `${path}.containers`));
  for (const [index, container] of items(spec.initContainers).entries()) {
    const here = `${path}.initContainers[${index}]`;
    errors.push(...validateContainer(container, volumes, here));
    if (container.restartPolicy !== undefined && !['Always', 'Never', 'OnFailure'].includes(container.restartPolicy)) {
      errors.push(
        field.notSupported(`${here}.restartPolicy`, container.restartPolicy, ['Always', 'Never', 'OnFailure']),
      );
    }
    if (names.has(container.name)) errors.push(field.duplicate(`${here}.name`, container.name));
    else if (container.name) names.add(container.name);
    if (container.restartPolicy === 'Always') errors.push(...validateLifecycle(container, here));
    else {
      for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
        if (container[name]) errors.push(field.forbidden(`${here}.${name}`, INIT_ONLY));
      }
    }
  }
  return errors;
}
