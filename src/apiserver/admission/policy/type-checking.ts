/** Holds the expressions of a policy against the types it is about; follows validating/typechecking.go. */
import { TakesLong } from '../../allowance.ts';
import { admissionEnvironment, compileAdmission } from '../../cel/admission-environment.ts';
import { type Environment, extend } from '../../cel/check/environment.ts';
import { DYN, type Type } from '../../cel/check/type.ts';
import { composedEnvironment } from '../../cel/composed-variables.ts';
import { fieldsIn, schemaType, type Registry as Types } from '../../cel/schema-type.ts';
import type { Registry } from '../../kinds/registry.ts';
import type { Resource } from '../../resource.ts';
import type { Schema } from '../../schema/schema.ts';
import type { PolicySpec } from './policy.ts';

export interface ExpressionWarning {
  fieldRef: string;
  warning: string;
}

const MAX_TYPES = 10;

interface TypedKind {
  /** As warnings name it. */
  text: string;
  kind: string;
  schema: Schema;
}

/** The kinds a policy is about; plain data. */
export interface TypedKinds {
  objects: TypedKind[];
  params?: TypedKind;
}

export function typedKinds(spec: PolicySpec, registry: Registry): TypedKinds {
  const params = paramResource(spec, registry);
  return {
    objects: resourcesToCheck(spec, registry).map(typedKind),
    ...(params ? { params: typedKind(params) } : {}),
  };
}

function typedKind(resource: Resource): TypedKind {
  return { text: kindText(resource), kind: resource.kind, schema: resource.schema() };
}

/** In steps: there may be many expressions, each held against several types. */
export function* typeWarnings(spec: PolicySpec, { objects, params }: TypedKinds): Generator<void, ExpressionWarning[]> {
  const environments: [string, Environment][] = [];
  for (const object of objects) {
    environments.push([object.text, yield* typedEnvironment(object, params, spec)]);
  }
  const warnings: ExpressionWarning[] = [];
  for (const [expression, fieldRef] of expressionsOf(spec)) {
    const found: string[] = [];
    for (const [kind, env] of environments) {
      const text = problem(expression, kind, env);
      if (text !== '') found.push(text);
      yield;
    }
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') });
  }
  return warnings;
}

function* expressionsOf({ validations = [] }: PolicySpec): Iterable<[expression: string, fieldRef: string]> {
  for (const [i, { expression, messageExpression }] of validations.entries()) {
    yield [expression, `spec.validations[${i}].expression`];
    if (messageExpression) yield [messageExpression, `spec.validations[${i}].messageExpression`];
  }
}

function kindText({ group, version, kind }: Resource): string {
  return `${group}/${version}, Kind=${kind}`;
}

function problem(expression: string, kind: string, env: Environment): string {
  try {
    compileAdmission(expression, env);
    return '';
  } catch (error) {
    if (error instanceof TakesLong) throw error;
    return `${kind}: ${(error as Error).message.replace(/^compilation failed: /, '')}\n`;
  }
}

/** Rules with wildcards say nothing of types. */
function resourcesToCheck(spec: PolicySpec, registry: Registry): Resource[] {
  const found = new Map<string, Resource>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of spec.matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue;
    for (const group of apiGroups) {
      for (const version of apiVersions) {
        for (const plural of resources.filter((name) => !/[*/]/.test(name))) {
          const resource = registry.find(group, version, plural);
          if (resource && found.size < MAX_TYPES) found.set(kindText(resource), resource);
        }
      }
    }
  }
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...found.values()].sort(
    (a, b) => order(a.group, b.group) || order(a.version, b.version) || order(a.kind, b.kind),
  );
}

function paramResource({ paramKind }: PolicySpec, registry: Registry): Resource | undefined {
  if (!paramKind) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return registry.byKind(group as string, version as string, kind);
}

function* typedEnvironment(
  kind: TypedKind,
  params: TypedKind | undefined,
  spec: PolicySpec,
): Generator<void, Environment> {
  const types: Types = new Map();
  const typeOf = (each: TypedKind) => schemaType(each.schema, true, each.kind, types)?.type ?? DYN;
  const object = typeOf(kind);
  const variables: Record<string, Type> = { object, oldObject: object };
  if (params) variables.params = typeOf(params);
  const base = admissionEnvironment({ params: params !== undefined, authorizer: true });
  const env = extend(base, variables, fieldsIn(types));
  const known = new Map<string, Type>();
  for (const { name, expression } of spec.variables ?? []) {
    try {
      known.set(name, compileAdmission(expression, composedEnvironment(env, known)).checked.type);
    } catch (error) {
      if (error instanceof TakesLong) throw error;
      // What uses it is told that there is no such variable.
    }
    yield;
  }
  return composedEnvironment(env, known);
}
