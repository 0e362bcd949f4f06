import type { Any } from './fields.ts';
import type { FieldError } from '../status.ts';
export function validateClaim(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateClaimUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateEndpoints(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateEvent(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateLimitRange(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateNamespace(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateNode(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateNodeUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePersistentVolume(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePersistentVolumeUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateResourceQuota(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateResourceQuotaUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
