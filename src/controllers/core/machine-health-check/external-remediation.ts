/** Repair by somebody else: an object made from the health check's template, one for each unhealthy machine. */
import type { KubeObject } from '../../../api/object.ts';
import {
  type ConditionInput,
  getCondition,
  ignoreNotFound,
  isAlreadyExists,
  type ResourceRef,
} from '../../../kube/index.ts';
import type { Core } from '../core.ts';
import { groupOf } from '../externals.ts';
import { ANNOTATION, LABEL } from '../names.ts';

interface TemplateReference {
  apiVersion: string;
  kind: string;
  name: string;
}

const TYPE = 'ExternallyRemediated';

/** Asks for repair; what is said of the machine, or undefined when it was asked for before. */
export async function requestRemediation(
  core: Core,
  reference: TemplateReference,
  machine: KubeObject,
  signal: AbortSignal,
): Promise<ConditionInput | undefined> {
  const { namespace, name = '', uid = '' } = machine.metadata;
  const said = (reason: string, message = ''): ConditionInput => ({ type: TYPE, status: 'False', reason, message });
  const template = await core.store
    .get(resourceOf(core, reference), { namespace, name: reference.name }, { signal })
    .catch(ignoreNotFound);
  if (!template) {
    const message = `Error retrieving remediation template ${reference.kind} ${namespace}/${reference.name}`;
    return said('RemediationTemplateNotFound', message);
  }
  const request = requestResource(core, reference);
  const { metadata, ...content } = structuredClone(template.spec?.template ?? {});
  try {
    await core.store.create(
      request,
      {
        apiVersion: reference.apiVersion,
        kind: request.kind,
        ...content,
        metadata: {
          name,
          namespace,
          labels: { ...metadata?.labels, [LABEL.clusterName]: machine.spec.clusterName },
          annotations: {
            ...metadata?.annotations,
            [ANNOTATION.clonedFromName]: reference.name,
            [ANNOTATION.clonedFromGroupKind]: `${reference.kind}.${groupOf(reference.apiVersion)}`,
          },
          ownerReferences: [{ apiVersion: machine.apiVersion, kind: machine.kind, name, uid }],
        },
      },
      { signal },
    );
  } catch (error) {
    // What was asked for before may not have been said; what is said since is the other controller's.
    if (isAlreadyExists(error)) return getCondition(machine, TYPE) ? undefined : said('WaitingForRemediation');
    return said('RemediationRequestCreationFailed', (error as Error).message);
  }
  return said('WaitingForRemediation');
}

/** A machine that is well again needs no repair. */
export async function withdrawRemediation(
  core: Core,
  reference: TemplateReference,
  machine: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '' } = machine.metadata;
  await core.store.delete(requestResource(core, reference), { namespace, name }, { signal }).catch(ignoreNotFound);
}

function requestResource(core: Core, reference: TemplateReference): ResourceRef {
  return resourceOf(core, { ...reference, kind: reference.kind.replace(/Template$/, '') });
}

/** Unlike other references this one names a version: remediation is no part of the contract. */
function resourceOf(core: Core, { apiVersion, kind }: TemplateReference): ResourceRef {
  const { plural } = core.externals.kinds.names({ apiGroup: groupOf(apiVersion), kind });
  const version = apiVersion.split('/').pop() as string;
  return { group: groupOf(apiVersion), version, plural, kind, namespaced: true };
}
