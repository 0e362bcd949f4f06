/**
 * One reconcile of one `WorkspaceTemplate`. One that is deleted stays until its last workspace has gone: without it they would neither run nor know when
 * their time is up.
 */
import type { KubeObject } from '../../api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../../api/resources.ts';
import {
  ensureFinalizer,
  isDeleting,
  listAll,
  type ObjectStore,
  PatchHelper,
  type ReconcileContext,
  removeFinalizer,
  setCondition,
} from '../../kube/index.ts';

const FINALIZER = 'workspacetemplate.workshop.platform';

export async function reconcileTemplate(
  store: ObjectStore,
  found: KubeObject,
  known: number,
  { clock, signal }: ReconcileContext,
): Promise<void> {
  // What a cache has not heard of yet must not lose its template.
  const count = isDeleting(found) ? await instancesOf(store, found, signal) : known;
  if (isDeleting(found) && count === 0) {
    await removeFinalizer(store, workspaceTemplates, found, FINALIZER, signal);
    return;
  }
  const template = isDeleting(found)
    ? found
    : await ensureFinalizer(store, workspaceTemplates, found, FINALIZER, signal);
  const helper = new PatchHelper(store, workspaceTemplates, template);
  const draft = helper.draft();
  draft.status = { ...draft.status, observedGeneration: draft.metadata.generation, instances: count };
  setCondition(draft, { type: 'Ready', ...readiness(template, count) }, clock);
  await helper.patch(draft, signal);
}

async function instancesOf(store: ObjectStore, { metadata }: KubeObject, signal: AbortSignal): Promise<number> {
  const { items } = await listAll(store, workspaceInstances, { signal });
  return items.filter(({ spec }) => spec?.templateRef?.name === metadata.name).length;
}

function readiness(template: KubeObject, count: number): { status: 'True' | 'False'; reason: string; message: string } {
  const { name } = template.metadata;
  if (isDeleting(template)) {
    const workspaces = count === 1 ? 'a workspace' : `${count} workspaces`;
    const message = `it is deleted, and goes when its last workspace has gone: ${workspaces} still there\nNext: rookery workspace list --template ${name}`;
    return { status: 'False', reason: 'InUse', message };
  }
  if ((template.spec?.steps ?? []).length > 0) return { status: 'True', reason: 'HasSteps', message: '' };
  return { status: 'False', reason: 'NoSteps', message: 'it has no steps: fill them in with `rookery template sync`' };
}
