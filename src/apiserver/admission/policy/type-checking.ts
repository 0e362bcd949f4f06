/** Holds the expressions of a policy against the types it is about; follows validating/typechecking.go. */
import { admissionEnvironment, compileAdmission } from '../../cel/admission-environment.ts';
import { type Environment, extend } from '../../cel/check/environment.ts';
import { DYN, type Type } from '../../cel/check/type.ts';
import { composedEnvironment } from '../../cel/composed-variables.ts';
import { fieldsIn, schemaType, type Registry as Types } from '../../cel/schema-type.ts';
import type { Registry } from '../../kinds/registry.ts';
import type { Resource } from '../../resource.ts';
import type { PolicySpec } from './policy.ts';

export interface ExpressionWarning {
  fieldRef: string;
  warning: string;
}

const MAX_TYPES = 10;

export function typeWarnings(spec: PolicySpec, registry: Registry): ExpressionWarning[] {
  const resources = resourcesToCheck(spec, registry);
  if (resources.length === 0) return [];
  const params = paramResource(spec, registry);
  const environments = resources.map(
    (resource) => [kindText(resource), typedEnvironment(resource, params, spec)] as const,
  );
  const warnings: ExpressionWarning[] = [];
  const check = (expression: string, fieldRef: string) => {
    const found = environments.map(([kind, env]) => problem(expression, kind, env)).filter((text) => text !== '');
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') });
  };
  for (const [i, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    check(expression, `spec.validations[${i}].expression`);
    if (messageExpression) check(messageExpression, `spec.validations[${i}].messageExpression`);
  }
  return warnings;
}

function kindText({ group, version, kind }: Resource): string {
  return `${group}/${version}, Kind=${kind}`;
}

function problem(expression: string, kind: string, env: Environment): string {
  try {
    compileAdmission(expression, env);
    return '';
  } catch (error) {
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

function typedEnvironment(resource: Resource, params: Resource | undefined, spec: PolicySpec): Environment {
  const types: Types = new Map();
  const typeOf = (each: Resource) => schemaType(each.schema(), true, each.kind, types)?.type ?? DYN;
  const object = typeOf(resource);
  const variables: Record<string, Type> = { object, oldObject: object };
  if (params) variables.params = typeOf(params);
  const base = admissionEnvironment({ params: params !== undefined, authorizer: true });
  const env = extend(base, variables, fieldsIn(types));
  const known = new Map<string, Type>();
  for (const { name, expression } of spec.variables ?? []) {
    try {
      known.set(name, compileAdmission(expression, composedEnvironment(env, known)).checked.type);
    } catch {
      // What uses it is told that there is no such variable.
    }
  }
  return composedEnvironment(env, known);
}
