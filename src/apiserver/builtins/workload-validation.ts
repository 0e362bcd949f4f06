import type { Any } from './fields.ts';
import type { FieldError } from '../status.ts';
export function validateControllerRevision(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateControllerRevisionUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateCronJob(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateDaemonSet(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateDaemonSetUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateDeployment(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateDeploymentUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateJob(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateJobUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validatePodTemplateObject(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateReplicaSet(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateReplicaSetUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateReplicationController(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateStatefulSet(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateStatefulSetUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
