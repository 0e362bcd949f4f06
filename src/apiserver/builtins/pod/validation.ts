import type { Any } from '../fields.ts';
import type { FieldError } from '../../status.ts';
export function validatePod(_o: Any): FieldError[] { return []; }
