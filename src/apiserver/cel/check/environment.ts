/** What expressions may refer to: functions, variables, and the fields of object types. */
import type { FunctionDeclaration } from './declarations.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  param,
  STRING,
  TIMESTAMP,
  TYPE,
  Type,
  typeOfType,
  UINT,
} from './type.ts';

/** The fields of an object type by the names expressions use; undefined for a type that is not known. */
export type FieldsOf = (type: string) => { get(field: string): Type | undefined } | undefined;

export interface Environment {
  functions: ReadonlyMap<string, FunctionDeclaration>;
  variables: ReadonlyMap<string, Type>;
  fieldsOf: FieldsOf;
}

const TYPES = new Map(
  [
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    listOf(param('A')),
    mapOf(param('A'), param('B')),
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    optionalOf(param('A')),
    new Type('opaque', 'net.IP'),
    new Type('opaque', 'net.CIDR'),
  ].map((type) => [type.name, type]),
);

/** The type a name stands for: `int`, `list`, `google.protobuf.Timestamp`. */
export function typeNamed(name: string): Type | undefined {
  return TYPES.get(name);
}

export function typeOfName(env: Environment, name: string): Type | undefined {
  const plain = name.startsWith('.') ? name.slice(1) : name;
  const variable = env.variables.get(plain);
  if (variable) return variable;
  const type = TYPES.get(plain);
  return type && typeOfType(type);
}

/** Merges declarations of the same function: libraries add overloads to one another's. */
export function functionTable(declarations: readonly FunctionDeclaration[]): Map<string, FunctionDeclaration> {
  const table = new Map<string, FunctionDeclaration>();
  for (const each of declarations) {
    const known = table.get(each.name);
    if (!known) table.set(each.name, each);
    else table.set(each.name, { ...known, ...each, overloads: [...known.overloads, ...each.overloads] });
  }
  return table;
}

export function extend(env: Environment, variables: Record<string, Type>, fieldsOf?: FieldsOf): Environment {
  return {
    functions: env.functions,
    variables: new Map([...env.variables, ...Object.entries(variables)]),
    fieldsOf: fieldsOf ? (type) => fieldsOf(type) ?? env.fieldsOf(type) : env.fieldsOf,
  };
}
