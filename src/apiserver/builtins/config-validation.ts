import type { Any } from './fields.ts';
import type { FieldError } from '../status.ts';
export function validateConfigMap(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateConfigMapUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateSecret(_o: Any, _old?: Any): FieldError[] { return []; }
export function validateSecretUpdate(_o: Any, _old?: Any): FieldError[] { return []; }
