/**
 * The objects a vcluster is made of in its host, as its chart would make them, with our marks. Everything is a function of the configuration and
 * a few names, so the same wish gives the same objects, and what differs is applied.
 */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { KubeObject } from '../../api/object.ts';
import { apiVersionOf, type ResourceRef } from '../../kube/index.ts';
import { controlPlaneSpec } from './control-plane.ts';
import * as host from './host-resources.ts';
import { at, isOn, type JsonObject } from './json-tree.ts';
import { CLAIM, clusterRoleName, FINGERPRINT, OWNER_LABEL } from './marks.ts';
import { clusterRoleRules, type Rule, roleRules } from './roles.ts';
import type { Place } from './survey.ts';

export interface Blueprint extends Place {
  config: JsonObject;
  kubernetesVersion: string;
  vclusterVersion: string;
  /** The port on the nodes it had before: a Service made anew gets it again. */
  nodePort?: number;
}

export interface HostObject {
  resource: ResourceRef;
  object: KubeObject;
}

type Content = Record<string, unknown>;

export const configText = (config: JsonObject): string => stringify(config, { sortMapEntries: true });

/** The namespace, when it is we who make it. */
export function namespaceObject({ id, namespace }: Place): HostObject {
  return made(host.namespaces, { name: namespace, labels: { [OWNER_LABEL]: id } }, {});
}

/** Who may put a vcluster into the namespace: made once, by whoever is first. */
export function claimObject({ id, namespace }: Place, data: Record<string, string>): HostObject {
  return made(host.configMaps, { name: CLAIM, namespace, labels: { [OWNER_LABEL]: id } }, { data });
}

/** Everything that is applied before the control plane. */
export function supportObjects(blueprint: Blueprint): HostObject[] {
  const { name, namespace, config } = blueprint;
  const inNamespace = (resource: ResourceRef, objectName: string, content: Content, labels = {}) =>
    made(resource, { name: objectName, namespace, labels: { ...labelsOf(blueprint), ...labels } }, content);
  const subjects = [{ kind: 'ServiceAccount', name: `vc-${name}`, namespace }];
  const imagePullSecrets = at(config, 'controlPlane.advanced.serviceAccount.imagePullSecrets');
  const account = Array.isArray(imagePullSecrets) && imagePullSecrets.length > 0 ? { imagePullSecrets } : {};
  return [
    inNamespace(host.serviceAccounts, `vc-${name}`, account),
    inNamespace(host.serviceAccounts, `vc-workload-${name}`, account),
    inNamespace(host.secrets, `vc-config-${name}`, {
      type: 'Opaque',
      data: { 'config.yaml': Buffer.from(configText(config)).toString('base64') },
    }),
    inNamespace(host.roles, `vc-${name}`, { rules: roleRules(config) }),
    inNamespace(host.roleBindings, `vc-${name}`, { subjects, roleRef: roleRef('Role', `vc-${name}`) }),
    ...clusterRole(blueprint, clusterRoleRules(config), subjects),
    inNamespace(host.services, `${name}-headless`, {
      spec: {
        publishNotReadyAddresses: true,
        clusterIP: 'None',
        ports: [port('https', 443)],
        selector: selectorOf(name),
      },
    }),
    withNodePort(
      inNamespace(host.services, name, { spec: serviceSpec(blueprint) }, { 'vcluster.loft.sh/service': 'true' }),
      blueprint,
    ),
  ];
}

/** The control plane; `serviceUid` is that of the Service which owns all that it makes. */
export function controlPlaneObject(blueprint: Blueprint, serviceUid: string): HostObject {
  const { name, namespace, config, id } = blueprint;
  const configHash = hash(configText(config));
  return made(
    host.statefulSets,
    { name, namespace, labels: labelsOf(blueprint) },
    { spec: controlPlaneSpec({ id, name, config, configHash, serviceUid }) },
  );
}

export const selectorOf = (name: string): Record<string, string> => ({ app: 'vcluster', release: name });

function labelsOf({ id, name, vclusterVersion }: Blueprint): Record<string, string> {
  return { ...selectorOf(name), chart: `vcluster-${vclusterVersion}`, heritage: 'Rookery', [OWNER_LABEL]: id };
}

function clusterRole(blueprint: Blueprint, rules: Rule[], subjects: Content[]): HostObject[] {
  if (rules.length === 0) return [];
  const name = clusterRoleName(blueprint.name, blueprint.namespace);
  const meta = { name, labels: labelsOf(blueprint) };
  return [
    made(host.clusterRoles, meta, { rules }),
    made(host.clusterRoleBindings, meta, { subjects, roleRef: roleRef('ClusterRole', name) }),
  ];
}

const roleRef = (kind: string, name: string): Content => ({ kind, name, apiGroup: 'rbac.authorization.k8s.io' });

const port = (name: string, number: number): Content => ({ name, port: number, targetPort: 8443, protocol: 'TCP' });

function serviceSpec({ name, config }: Blueprint): Content {
  const type = at(config, 'controlPlane.service.spec.type');
  // Kubelets are asked through the control plane, by the names of nodes.
  const hasKubelets = isOn(config, 'networking.advanced.proxyKubelets.byHostname') && type !== 'LoadBalancer';
  const ports = [port('https', 443), ...(hasKubelets ? [port('kubelet', 10250)] : [])];
  return { type, ports, selector: selectorOf(name) };
}

/** The port that was asked for, or the one the host gave it once: that it is known now makes it no other Service. */
function withNodePort({ resource, object }: HostObject, { config, nodePort: given }: Blueprint): HostObject {
  const nodePort = Number(at(config, 'controlPlane.service.httpsNodePort') ?? 0) || given;
  if (object.spec.type !== 'NodePort' || !nodePort) return { resource, object };
  const [https, ...others] = object.spec.ports;
  return { resource, object: { ...object, spec: { ...object.spec, ports: [{ ...https, nodePort }, ...others] } } };
}

function made(resource: ResourceRef, metadata: KubeObject['metadata'], content: Content): HostObject {
  const { labels, annotations, ...key } = metadata;
  const bare = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: key, ...content };
  const fingerprint = hash(JSON.stringify({ bare, labels, annotations })).slice(0, 16);
  const meta = { ...key, labels, annotations: { ...annotations, [FINGERPRINT]: fingerprint } };
  return { resource, object: { ...bare, metadata: meta } };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
