/** `kubectl get` for storage.k8s.io. */
import type { Printer } from '../../resource.ts';
import { type Any, items } from '../fields.ts';
import { created, printer } from './table.ts';

const isDefaultClass = (o: Any) =>
  o.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
  o.metadata.annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true';

export const storagePrinters: Record<string, Printer> = {
  StorageClass: printer('Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age', (o, now) => [
    isDefaultClass(o) ? `${o.metadata.name} (default)` : o.metadata.name,
    o.provisioner ?? '',
    o.reclaimPolicy ?? 'Delete',
    o.volumeBindingMode ?? 'Immediate',
    o.allowVolumeExpansion ?? false,
    created(o, now),
  ]),
  VolumeAttributesClass: printer('Name|DriverName|Age', (o, now) => [
    o.metadata.name,
    o.driverName ?? '',
    created(o, now),
  ]),
  VolumeAttachment: printer('Name|Attacher|PV|Node|Attached:boolean|Age', (o, now) => [
    o.metadata.name,
    o.spec?.attacher ?? '',
    o.spec?.source?.persistentVolumeName ?? '',
    o.spec?.nodeName ?? '',
    o.status?.attached ?? false,
    created(o, now),
  ]),
  CSINode: printer('Name|Drivers:integer|Age', (o, now) => [
    o.metadata.name,
    items(o.spec?.drivers).length,
    created(o, now),
  ]),
  CSIDriver: printer(
    'Name|AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests|RequiresRepublish:boolean|Modes|Age',
    (o, now) => [
      o.metadata.name,
      o.spec?.attachRequired ?? true,
      o.spec?.podInfoOnMount ?? false,
      o.spec?.storageCapacity ?? false,
      o.spec?.tokenRequests
        ? items(o.spec.tokenRequests)
            .map((t) => t.audience)
            .join(',')
        : '<unset>',
      o.spec?.requiresRepublish ?? false,
      items(o.spec?.volumeLifecycleModes).join(',') || '<none>',
      created(o, now),
    ],
  ),
  CSIStorageCapacity: printer('Name|StorageClassName|Capacity', (o) => [
    o.metadata.name,
    o.storageClassName ?? '',
    o.capacity ?? '<unset>',
  ]),
};
