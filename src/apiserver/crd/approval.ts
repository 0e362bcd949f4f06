/** Groups under k8s.io and kubernetes.io belong to the community: a CRD there must say who approved it. */
import type { Crd } from './crd.ts';

export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';

export type Approval = { state: 'missing' | 'bypassed' | 'approved' | 'invalid'; reason: string };

export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

export function approvalOf(crd: Crd): Approval {
  const value = crd.metadata.annotations?.[APPROVAL_ANNOTATION] ?? '';
  const rule = `protected groups must have approval annotation ${JSON.stringify(APPROVAL_ANNOTATION)}`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') return { state: 'missing', reason: `${rule}, ${see}` };
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(value)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(value))
    return { state: 'approved', reason: `approved in ${value}` };
  return { state: 'invalid', reason: `${rule} with either a URL or a reason starting with "unapproved", ${see}` };
}
