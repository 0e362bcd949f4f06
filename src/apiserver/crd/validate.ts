/**
 * Whether a CustomResourceDefinition can be served. Error texts and paths are the real server's, including its habit to
 * name what all versions have in common by the place it had in v1beta1 (`spec.validation`, `spec.subresources`, …).
 */
import { dns1035Label, dns1123Subdomain } from '../builtins/names.ts';
import { checkRuleSources, validateRules } from '../cel/rules.ts';
import { someSchema } from '../schema/children.ts';
import { deepEqual } from '../schema/equal.ts';
import { goJson } from '../schema/go-json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldError, field } from '../status.ts';
import { APPROVAL_ANNOTATION, approvalOf, isProtectedGroup } from './approval.ts';
import { conversionRules } from './conversion-rules.ts';
import { type Crd, type CrdNames, type CrdVersion, isTrue } from './crd.ts';
import { defaultRules } from './default-rules.ts';
import { hasUnsupportedWords, schemaRules } from './schema-rules.ts';
import { validateStructural } from './structural.ts';
import { columnRules, selectableFieldRules, subresourceRules } from './version-rules.ts';

export function validateCrd(given: Crd, old?: Crd): FieldError[] {
  const errors: FieldError[] = [];
  // The type says what a valid one has; this one may have no spec at all.
  const spec = given.spec ?? ({} as Crd['spec']);
  const crd = { ...given, spec };
  const names = spec.names ?? {};
  if (!old && crd.metadata.name !== `${names.plural ?? ''}.${spec.group ?? ''}`) {
    errors.push(field.invalid('metadata.name', crd.metadata.name ?? '', 'must be spec.names.plural+"."+spec.group'));
  }
  specRules(crd, old, errors);
  if (old) immutability(crd, old, errors);
  nameRules(crd.status?.acceptedNames, 'status.acceptedNames', errors);
  storedVersionRules(crd, errors);
  approvalRules(crd, old, errors);
  if (spec.preserveUnknownFields && !old?.spec.preserveUnknownFields) {
    const text =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(field.invalid('spec.preserveUnknownFields', true, text));
  }
  return errors;
}

function specRules(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  const { group, scope, versions = [], names } = crd.spec;
  if (!group) errors.push(field.required('spec.group'));
  else if (dns1123Subdomain(group).length > 0) {
    errors.push(field.invalid('spec.group', group, dns1123Subdomain(group).join(',')));
  } else if (!group.includes('.')) {
    errors.push(field.invalid('spec.group', group, 'should be a domain with at least one dot'));
  }
  if (!scope) errors.push(field.required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(field.notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  versions.forEach((version, i) => {
    if (!version.schema?.openAPIV3Schema) {
      errors.push(field.required(`spec.versions[${i}].schema.openAPIV3Schema`));
    }
  });
  versionRules(crd, old, errors);
  if (new Set(versions.map((v) => v.name)).size !== versions.length) {
    errors.push(invalidVersions(versions, 'must contain unique version names'));
  }
  if (versions.filter((v) => v.storage).length !== 1) {
    errors.push(invalidVersions(versions, 'must have exactly one version marked as storage version'));
  }
  const first = dns1035Label(versions[0]?.name ?? 'none');
  if (first.length > 0) errors.push(field.invalid('spec.version', versions[0]?.name ?? '', first.join(',')));
  if (crd.spec.preserveUnknownFields && versions.some((v) => hasDefaults(v.schema?.openAPIV3Schema))) {
    const text = 'must be false in order to use defaults in the schema';
    errors.push(field.invalid('spec.preserveUnknownFields', true, text));
  }
  for (const part of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names?.[part]) errors.push(field.required(`spec.names.${part}`));
  }
  nameRules(names, 'spec.names', errors);
  errors.push(
    ...conversionRules(crd.spec.conversion, old !== undefined && isTrue(old, 'Established'), 'spec.conversion'),
  );
}

function hasDefaults(schema: Schema | undefined): boolean {
  return schema !== undefined && someSchema(schema, (s) => s.default !== undefined && s.default !== null);
}

function invalidVersions(versions: CrdVersion[], text: string): FieldError {
  return { type: 'FieldValueInvalid', field: 'spec.versions', message: `Invalid value: ${goJson(versions)}: ${text}` };
}

/** Parts equal in all versions are checked once, under the name they have at the top. */
function versionRules(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  const { versions = [] } = crd.spec;
  const shared = (part: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields') =>
    versions.every((v) => deepEqual(v[part] ?? null, versions[0]?.[part] ?? null));
  const top = {
    schema: shared('schema'),
    subresources: shared('subresources'),
    columns: shared('additionalPrinterColumns'),
    fields: shared('selectableFields'),
  };
  versions.forEach((version, i) => {
    const at = `spec.versions[${i}]`;
    const label = dns1035Label(version.name ?? '');
    if (label.length > 0) errors.push(field.invalid(`${at}.name`, version.name ?? '', label.join(',')));
    deprecationRules(version, at, errors);
    const before = old?.spec.versions.find((v) => v.name === version.name);
    const unchanged = before !== undefined && deepEqual(before.schema ?? null, version.schema ?? null);
    const schema = version.schema?.openAPIV3Schema;
    // An unchanged schema was accepted once; what it was accepted with stays accepted.
    if (schema && !unchanged && (i === 0 || !top.schema)) {
      const path = top.schema ? 'spec.validation.openAPIV3Schema' : `${at}.schema.openAPIV3Schema`;
      errors.push(...schemaErrors(schema, path, version.subresources?.status !== undefined));
    }
    if (i === 0 || !top.subresources) {
      errors.push(
        ...subresourceRules(version.subresources, top.subresources ? 'spec.subresources' : `${at}.subresources`),
      );
    }
    if (i === 0 || !top.columns) {
      const path = top.columns ? 'spec.additionalPrinterColumns' : `${at}.additionalPrinterColumns`;
      errors.push(...columnRules(version.additionalPrinterColumns ?? [], path));
    }
    if (i === 0 || !top.fields) {
      const path = top.fields ? 'spec.selectableFields' : `${at}.selectableFields`;
      errors.push(...selectableFieldRules(version.selectableFields ?? [], schema, path));
    }
  });
}

/** Words allowed at the root next to a status subresource: nothing that could say something about status from above. */
const ROOT_WORDS = new Set(
  'description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations'.split(
    ' ',
  ),
);
const ROOT_NAMES =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]';

function schemaErrors(schema: Schema, path: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) {
    const text = `only ${ROOT_NAMES} fields are allowed at the root of the schema if the status subresource is enabled`;
    if (schema.type && schema.type !== 'object') {
      const only =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.push(field.invalid(`${path}.type`, schema.type, only));
    } else if (Object.keys(schema).some((word) => !ROOT_WORDS.has(word) && set(schema, word))) {
      errors.push({ type: 'FieldValueInvalid', field: path, message: `Invalid value: ${goJson(schema)}: ${text}` });
    }
  }
  if (schema.nullable) errors.push(field.forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  // With words that cannot be structural at all, only those words are reported.
  const foreign = hasUnsupportedWords(schema);
  const structural = foreign ? [] : validateStructural(schema, path);
  errors.push(...structural);
  let rulesToo = !foreign && structural.length === 0;
  if (rulesToo) {
    const defaults = defaultRules(schema, path, validateRules);
    errors.push(...defaults);
    rulesToo = defaults.length === 0;
  }
  const sources = rulesToo ? checkRuleSources(schema) : undefined;
  errors.push(...schemaRules(schema, path, { root: true, insideMeta: false }, sources?.check));
  if (sources) errors.push(...sources.total(path));
  return errors;
}

function set(schema: Schema, word: string): boolean {
  const value = (schema as Record<string, unknown>)[word];
  return value !== undefined && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function deprecationRules(version: CrdVersion, at: string, errors: FieldError[]): void {
  const warning = version.deprecationWarning;
  if (warning === undefined) return;
  const say = (text: string) => errors.push(field.invalid(`${at}.deprecationWarning`, warning, text));
  if (!version.deprecated) say('can only be set for deprecated versions');
  else {
    if (Buffer.byteLength(warning) > 256) say('must be <= 256 characters long');
    if (warning === '') say('must not be an empty string');
    const bad = warning.search(/[\p{C}\p{Zl}\p{Zp}]/u);
    if (bad >= 0) {
      say(`must only contain printable UTF-8 characters; non-printable character found at index ${bad}`);
    }
  }
}

function nameRules(names: CrdNames | undefined, path: string, errors: FieldError[]): void {
  if (!names) return;
  const check = (value: string | undefined, at: string, mixed = false) => {
    if (!value) return;
    const found = dns1035Label(mixed ? value.toLowerCase() : value);
    if (found.length === 0) return;
    const text = mixed ? `may have mixed case, but should otherwise match: ${found.join(',')}` : found.join(',');
    errors.push(field.invalid(`${path}.${at}`, value, text));
  };
  check(names.plural, 'plural');
  check(names.singular, 'singular');
  check(names.kind, 'kind', true);
  check(names.listKind, 'listKind', true);
  names.shortNames?.forEach((name, i) => {
    check(name, `shortNames[${i}]`);
  });
  if (names.kind && names.kind === names.listKind) {
    errors.push(field.invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  names.categories?.forEach((name, i) => {
    check(name, `categories[${i}]`);
  });
}

function immutability(crd: Crd, old: Crd, errors: FieldError[]): void {
  const same = (now: unknown, before: unknown, at: string) => {
    if (now !== before) errors.push(field.invalid(at, now, 'field is immutable'));
  };
  if (isTrue(old, 'Established')) {
    same(crd.spec.scope, old.spec.scope, 'spec.scope');
    same(crd.spec.names?.kind, old.spec.names.kind, 'spec.names.kind');
  }
  same(crd.spec.group, old.spec.group, 'spec.group');
  same(crd.spec.names?.plural, old.spec.names.plural, 'spec.names.plural');
}

function storedVersionRules(crd: Crd, errors: FieldError[]): void {
  const path = 'status.storedVersions';
  const stored = crd.status?.storedVersions ?? [];
  if (stored.length === 0) {
    errors.push(field.invalid(path, stored, 'must have at least one stored version'));
    return;
  }
  const names = new Set((crd.spec.versions ?? []).map((v) => v.name));
  for (const version of crd.spec.versions ?? []) {
    if (version.storage && !stored.includes(version.name)) {
      errors.push(field.invalid(path, stored, `must have the storage version ${version.name}`));
    }
  }
  stored.forEach((name, i) => {
    if (names.has(name)) return;
    const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(field.invalid(`${path}[${i}]`, name, text));
  });
}

function approvalRules(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  if (!crd.spec.group || !isProtectedGroup(crd.spec.group)) return;
  const { state, reason } = approvalOf(crd);
  if (old && approvalOf(old).state === state) return;
  const path = `metadata.annotations[${APPROVAL_ANNOTATION}]`;
  if (state === 'missing') errors.push(field.required(path, reason));
  else if (state === 'invalid') {
    errors.push(field.invalid(path, crd.metadata.annotations?.[APPROVAL_ANNOTATION] ?? '', reason));
  }
}
