import type { Any } from '../fields.ts';
import type { FieldError } from '../../status.ts';
export function validatePodUpdate(_o: Any, _old: Any): FieldError[] { return []; }
