/** Nothing is created in a namespace that is missing or going away, and some namespaces stay. */
import { forbidden, notFound } from '../status.ts';
import { type AdmissionPlugin, refuse } from './admission.ts';

const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);
const REVIEWS = new Set(['localsubjectaccessreviews', 'selfsubjectrulesreviews']);

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: ({ operation }) => operation !== 'CONNECT',
  /** Deletes have nothing to mutate: they are refused here. */
  validate({ operation, resource, subresource, name }) {
    if (operation !== 'DELETE' || resource.group !== '' || resource.plural !== 'namespaces' || subresource) return;
    if (PROTECTED.has(name))
      throw forbidden({ group: '', resource: 'namespaces', name }, 'this namespace may not be deleted');
  },
  mutate(attributes) {
    const { operation, resource, namespace, store } = attributes;
    if (!namespace || operation === 'DELETE') return;
    if (resource.group === '' && resource.plural === 'namespaces') return;
    if (resource.group === 'authorization.k8s.io' && REVIEWS.has(resource.plural)) return;
    const found = store.get({ resource: '/namespaces', namespace: '', name: namespace })?.object();
    if (!found) throw notFound({ group: '', resource: 'namespaces', name: namespace });
    if (operation === 'CREATE' && found.status?.phase === 'Terminating') {
      throw refuse(
        attributes,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      );
    }
  },
  /** Once more inside the transaction: the namespace may have gone since. */
  commit(tx, attributes) {
    const { operation, namespace, resource } = attributes;
    if (operation !== 'CREATE' || !namespace || attributes.subresource) return;
    const found = tx.get({ resource: '/namespaces', namespace: '', name: namespace });
    if (!found && !REVIEWS.has(resource.plural)) throw notFound({ group: '', resource: 'namespaces', name: namespace });
  },
};
