import type { Any } from '../fields.ts';
import type { FieldError } from '../../status.ts';
export function validateService(_o: Any): FieldError[] { return []; }
export function validateServiceUpdate(_o: Any, _old: Any): FieldError[] { return []; }
