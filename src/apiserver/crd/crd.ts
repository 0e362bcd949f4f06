/** CustomResourceDefinition v1, as far as the server reads it, and its conditions. */
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';

export interface CrdNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface CrdColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

export interface CrdSubresources {
  status?: object;
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: CrdSubresources;
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CrdConversion {
  strategy: string;
  webhook?: {
    clientConfig?: {
      url?: string;
      service?: { namespace: string; name: string; path?: string; port?: number };
      caBundle?: string;
    };
    conversionReviewVersions?: string[];
  };
}

export interface CrdCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

export interface CrdStatus {
  conditions?: CrdCondition[];
  acceptedNames?: CrdNames;
  storedVersions?: string[];
}

export interface Crd extends KubeObject {
  spec: {
    group: string;
    names: CrdNames;
    scope: string;
    versions: CrdVersion[];
    conversion?: CrdConversion;
    preserveUnknownFields?: boolean;
  };
  status?: CrdStatus;
}

/** Where CRDs themselves are stored. */
export const CRD_STORAGE = 'apiextensions.k8s.io/customresourcedefinitions';
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export function condition(crd: Crd, type: string): CrdCondition | undefined {
  return crd.status?.conditions?.find((c) => c.type === type);
}

export function isTrue(crd: Crd, type: string): boolean {
  return condition(crd, type)?.status === 'True';
}

export function storageVersion(crd: Crd): string {
  return crd.spec.versions.find((v) => v.storage)?.name ?? (crd.spec.versions[0]?.name as string);
}

/** Sets a condition in place; the time of transition stays while the status does. */
export function setCondition(conditions: CrdCondition[], next: CrdCondition, now: string): void {
  const known = conditions.find((c) => c.type === next.type);
  if (known === undefined) {
    conditions.push({ ...next, lastTransitionTime: next.lastTransitionTime ?? now });
    return;
  }
  if (known.status !== next.status) known.lastTransitionTime = now;
  known.status = next.status;
  known.reason = next.reason;
  known.message = next.message;
}
