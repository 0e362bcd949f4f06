/**
 * Who may have clusters that use this machine or others: the user who writes the object needs the verb `use` on `hosts.rookery.dev` (see
 * `provisioners/host-use.ts` for the names), besides the right to write it. Asked when such an object is created, and when what it uses changes; of
 * templates the author is asked, and of workspaces only the user who goes beyond their template. Paths must lie in folders that the operator allows.
 * What was accepted before stays as it is.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../api/resources.ts';
import { type AdmissionAttributes, type AdmissionPlugin, type Authorizer, refuse } from '../apiserver/index.ts';
import { RookeryError } from '../errors.ts';
import type { HostFolders } from '../machines/host-folders.ts';
import type { HostCapability, HostUse } from '../provisioners/host-use.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { instanceHostUses, templateHostUses } from './workspace/host-uses.ts';

const PERMISSION = { group: 'rookery.dev', resource: 'hosts', verb: 'use' };
/** A ClusterRole of ours that has all of them. */
const ROLE = 'rookery-host-user';

const WHAT: Record<HostCapability, string> = {
  containers: 'makes containers on the machine Rookery runs on',
  machine: 'runs programs on the machine Rookery runs on',
  ssh: 'logs in to another machine',
  paths: 'uses files or folders of the machine Rookery runs on',
  ports: 'opens a port below 1024, or a port for other machines, on the machine Rookery runs on',
};

export interface HostAdmissionParts {
  authorizer: Authorizer;
  folders: HostFolders;
}

export function hostAdmission({ authorizer, folders }: HostAdmissionParts): AdmissionPlugin {
  return {
    name: 'HostAccess',
    handles: (attributes) =>
      (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
      ((attributes.subresource === '' && usesOf(attributes) !== undefined) ||
        (attributes.subresource === 'status' && wayOf(attributes) !== undefined)),
    async validate(attributes) {
      const uses = newUses(attributes);
      for (const use of uses) {
        if (!isAllowed(authorizer, attributes, use.capability)) throw refuse(attributes, needs(attributes, use));
      }
      for (const { field, path } of uses) {
        if (path === undefined) continue;
        await folders.check(path).catch((error) => {
          if (!(error instanceof RookeryError)) throw error;
          throw refuse(attributes, `${field}: ${error.message}; ${error.hint}`);
        });
      }
    },
  };
}

function wayOf({ resource }: AdmissionAttributes): ClusterWay | undefined {
  return clusterWays.find(
    (way) => way.hostUses && way.resource.group === resource.group && way.resource.plural === resource.plural,
  );
}

/** How uses are found in objects of a resource; undefined for those that have none. */
function usesOf(attributes: AdmissionAttributes): ((object: KubeObject) => HostUse[]) | undefined {
  const { resource, store } = attributes;
  const hostUses = wayOf(attributes)?.hostUses;
  if (hostUses) return hostUses;
  if (resource.group !== workspaceTemplates.group) return undefined;
  if (resource.plural === workspaceTemplates.plural) return templateHostUses;
  if (resource.plural !== workspaceInstances.plural) return undefined;
  const place = `${workspaceTemplates.group}/${workspaceTemplates.plural}`;
  return (instance) => {
    const name: string = instance.spec?.templateRef?.name ?? '';
    return instanceHostUses(instance, store.get({ resource: place, namespace: '', name })?.object());
  };
}

function newUses(attributes: AdmissionAttributes): HostUse[] {
  const { object, old, subresource } = attributes;
  const find = usesOf(attributes);
  if (!object || !find) return [];
  // The image that a version was taken to mean stands in the status, and decides what is run.
  if (subresource === 'status') return isDeepStrictEqual(object.status, old?.status) ? [] : find(object).slice(0, 1);
  if (old && isDeepStrictEqual(object.spec, old.spec)) return [];
  const known = old ? find(old) : [];
  // Every change of such a cluster is work on the machine, also where the use itself is not new.
  return find(object).filter(
    (use, index) => (index === 0 && wayOf(attributes)) || !known.some((other) => isDeepStrictEqual(other, use)),
  );
}

function isAllowed(authorizer: Authorizer, attributes: AdmissionAttributes, name: HostCapability): boolean {
  const { identity, namespace } = attributes;
  return authorizer.authorize(identity, { ...PERMISSION, version: '*', namespace, name }).allowed;
}

function needs({ identity, namespace }: AdmissionAttributes, { capability, field }: HostUse): string {
  const { group, resource, verb } = PERMISSION;
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'in all namespaces';
  const [, space, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(identity.user) ?? [];
  const subject = account ? `--serviceaccount=${space}:${account}` : `--user=${identity.user}`;
  const grant = namespace
    ? `kubectl create rolebinding host-user --clusterrole=${ROLE} ${subject} --namespace=${namespace}`
    : `kubectl create clusterrolebinding host-user --clusterrole=${ROLE} ${subject}`;
  return [
    `${field} ${WHAT[capability]}`,
    `user ${JSON.stringify(identity.user)} needs the verb ${JSON.stringify(verb)} on the resource "${resource}/${capability}" in API group ${JSON.stringify(group)} ${where}`,
    `an administrator grants it with \`${grant}\``,
    'clusters of the provisioners virtual and vcluster need no such permission',
  ].join('; ');
}
