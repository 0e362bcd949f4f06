/** Query parameters of writes, checked as the real server checks them: all that is wrong at once. */
import type { DeleteOptions, WriteOptions } from '../operations.ts';
import { type FieldError, field, invalid } from '../status.ts';
import type { Call } from './call.ts';

const OPTIONS: Record<string, string> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};
const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];
const LONGEST_MANAGER = 128;

/** `earlier`: what is wrong besides, and comes first. */
export function writeOptions({ exchange, identity, route, scope }: Call, earlier: FieldError[] = []): WriteOptions {
  const { query } = exchange;
  const manager = query.get('fieldManager') ?? '';
  const validation = query.get('fieldValidation') ?? '';
  const dryRun = query.getAll('dryRun');
  const isDelete = OPTIONS[route.verb] === 'DeleteOptions';
  const errors = [...earlier, ...(isDelete ? [] : managerErrors(manager)), ...dryRunErrors(dryRun)];
  if (!isDelete && !VALIDATIONS.includes(validation)) {
    errors.push(field.notSupported('fieldValidation', validation, VALIDATIONS));
  }
  refuse(route.verb, errors);
  return {
    identity,
    dryRun: dryRun.length > 0,
    ...(manager ? { requestedManager: manager } : {}),
    fieldManager: manager || (exchange.header('user-agent') ?? '').split('/', 1)[0]?.slice(0, 128) || 'unknown',
    fieldValidation: (validation || undefined) as WriteOptions['fieldValidation'],
    warnings: exchange.warnings,
    scope,
  };
}

/** What a delete may say in its body, or else in its query. */
export function checkDeletion({ route }: Call, deletion: DeleteOptions & { dryRun?: string[] }): void {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents } = deletion;
  if (orphanDependents !== undefined && policy !== undefined) {
    const text = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(field.invalid('propagationPolicy', policy, text));
  }
  const policies = ['Foreground', 'Background', 'Orphan'];
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(field.notSupported('propagationPolicy', policy, [...policies, 'nil']));
  }
  refuse(route.verb, [...errors, ...dryRunErrors(deletion.dryRun ?? [])]);
}

function refuse(verb: string, errors: FieldError[]): void {
  if (errors.length > 0) throw invalid('meta.k8s.io', OPTIONS[verb] ?? 'CreateOptions', '', errors);
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > LONGEST_MANAGER) errors.push(field.tooLong('fieldManager', LONGEST_MANAGER));
  let at = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(field.invalid('fieldManager', manager, `invalid character U+${code} (at position ${at})`));
    }
    at += Buffer.byteLength(character);
  }
  return errors;
}

/** As Go sees it: of spaces only the plain one. */
function isPrintable(character: string): boolean {
  return character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function dryRunErrors(values: string[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [field.notSupported('dryRun', values, ['All'])];
}
