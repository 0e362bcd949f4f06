/** `WorkspaceTemplate` and `WorkspaceInstance`: blueprints of workshops, and the workspaces of people made from them. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, workspaceInstances, workspaceTemplates } from '../../api/resources.ts';
import {
  type ControllerOptions,
  EventRecorder,
  type Informers,
  ignoreNotFound,
  isDeleting,
  keyOf,
  type ObjectStore,
} from '../../kube/index.ts';
import { SHARED_NAMESPACE } from './shared-cluster.ts';
import { reconcileTemplate } from './template-scope.ts';
import type { WorkspaceParts } from './workspace-parts.ts';
import { WorkspaceScope } from './workspace-scope.ts';

export type { WorkspaceParts } from './workspace-parts.ts';

export function workspaceControllers(
  store: ObjectStore,
  informers: Informers,
  parts: WorkspaceParts,
): ControllerOptions[] {
  const instances = informers.for(workspaceInstances);
  // One for all: it knows what it has told already.
  let recorder: EventRecorder | undefined;
  const templateOf = (instance: KubeObject): string => instance.spec?.templateRef?.name;
  const ofTemplate = (name: string | undefined) =>
    instances
      .list()
      .filter((instance) => templateOf(instance) === name)
      .map(keyOf);
  return [
    {
      name: 'workspace-instance',
      resource: workspaceInstances,
      owns: [clusters],
      concurrency: 16,
      watches: [
        { resource: workspaceTemplates, map: (template) => ofTemplate(template.metadata.name) },
        {
          resource: clusters,
          map: ({ metadata }) => (metadata.namespace === SHARED_NAMESPACE ? ofTemplate(metadata.name) : []),
        },
      ],
      async reconcile(key, context) {
        const found = await store.get(workspaceInstances, key, { signal: context.signal }).catch(ignoreNotFound);
        if (!found) return;
        recorder ??= new EventRecorder({ ...context, store, component: 'rookery-workspace' });
        const scope = new WorkspaceScope({ store, parts, context, recorder }, found);
        if (isDeleting(found)) return await scope.remove();
        const name = templateOf(found);
        const template = await store
          .get(workspaceTemplates, { name }, { signal: context.signal })
          .catch(ignoreNotFound);
        return await scope.ensure(template);
      },
    },
    {
      name: 'workspace-template',
      resource: workspaceTemplates,
      watches: [
        {
          resource: workspaceInstances,
          map: (instance) => [{ name: templateOf(instance) }],
          filter: (instance, old) => !old || isDeleting(instance) !== isDeleting(old),
        },
      ],
      async reconcile(key, context) {
        const found = await store.get(workspaceTemplates, key, { signal: context.signal }).catch(ignoreNotFound);
        if (found) await reconcileTemplate(store, found, ofTemplate(key.name).length, context);
      },
    },
  ];
}
