/** Defaults that come from other objects: storage class, ingress class; and the finalizers that guard volumes. */
import type { KubeObject } from '../../api/object.ts';
import { type AdmissionPlugin, isResource, listObjects } from './admission.ts';

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_MARKS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Of several defaults the newest wins, then the first by name. */
function newest(candidates: readonly KubeObject[]): KubeObject | undefined {
  return [...candidates].sort((a, b) => {
    const [x, y] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
    if (x !== y) return x > y ? -1 : 1;
    return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  })[0];
}

export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  handles: (attributes) => attributes.operation === 'CREATE' && isResource(attributes, '', 'persistentvolumeclaims'),
  mutate({ object, store }) {
    const claim = object as KubeObject;
    if (claim.spec?.storageClassName != null || claim.metadata.annotations?.[BETA_CLASS] !== undefined) return;
    const classes = listObjects(store, 'storage.k8s.io/storageclasses');
    const chosen = newest(
      classes.filter((c) => DEFAULT_MARKS.some((mark) => c.metadata.annotations?.[mark] === 'true')),
    );
    if (chosen) claim.spec.storageClassName = chosen.metadata.name;
  },
};

export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  handles: (attributes) =>
    attributes.operation === 'CREATE' && isResource(attributes, 'networking.k8s.io', 'ingresses'),
  mutate({ object, store }) {
    const ingress = object as KubeObject;
    if (ingress.spec?.ingressClassName != null) return;
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return;
    const chosen = newest(
      listObjects(store, 'networking.k8s.io/ingressclasses').filter(
        (c) => c.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true',
      ),
    );
    if (chosen) ingress.spec = { ...ingress.spec, ingressClassName: chosen.metadata.name };
  },
};

const GUARDS: Record<string, string> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
};

/** Volumes in use are not deleted under their users: a controller removes the finalizer when they are free. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: ({ operation, subresource, resource }) =>
    operation === 'CREATE' && subresource === '' && `${resource.group}/${resource.plural}` in GUARDS,
  mutate({ object, resource }) {
    const meta = (object as KubeObject).metadata;
    const guard = GUARDS[`${resource.group}/${resource.plural}`] as string;
    if (!meta.finalizers?.includes(guard)) meta.finalizers = [...(meta.finalizers ?? []), guard];
  },
};
