import type { Any } from './fields.ts';
import type { FieldError } from '../status.ts';
export function validateAutoscaler(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateBinding(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateBindingUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateCertificateRequest(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateCertificateRequestUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateDisruptionBudget(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateEndpointSlice(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateEndpointSliceUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateIngress(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateIngressClass(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateIngressClassUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateLease(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateNetworkPolicy(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateNewEvent(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePolicy(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePolicyBinding(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePriorityClass(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePriorityClassUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateRole(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateRuntimeClass(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateRuntimeClassUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateStorageClass(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateStorageClassUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateVolumeAttributesClass(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateVolumeAttributesClassUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateWebhooks(_o: Any, _old?: Any): FieldError[] { return []; }
