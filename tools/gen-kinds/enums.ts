/**
 * Values of enumerated fields. The published documents leave them out (a real server adds them), but the Go code they
 * are made from has them: `pkg/generated/openapi`, read by line.
 */
import { readFileSync } from 'node:fs';
import { kubernetes } from './modules.ts';

/** Last parts of package and name (`core_v1_Container`) → field → values. */
type Enums = Map<string, Map<string, string[]>>;

// biome-ignore lint/suspicious/noExplicitAny: raw OpenAPI
type Raw = Record<string, any>;

let enums: Enums | undefined;

function readEnums(): Enums {
  const result: Enums = new Map();
  let fields = new Map<string, string[]>();
  let field = '';
  const file = `${kubernetes()}/pkg/generated/openapi/zz_generated.openapi.go`;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const open = /^func schema_(\w+)\(/.exec(line);
    if (open) {
      fields = new Map();
      result.set((open[1] as string).split('_').slice(-3).join('_'), fields);
    }
    field = /^\t{5}"([^"]+)": \{$/.exec(line)?.[1] ?? field;
    const values = /^\t+Enum:\s+\[\]interface\{\}\{(.*)\},$/.exec(line);
    if (values) fields.set(field, JSON.parse(`[${values[1]}]`));
  }
  return result;
}

/** Adds the values to a definition such as `io.k8s.api.core.v1.Container`. */
export function addEnums(name: string, schema: Raw): void {
  enums ??= readEnums();
  for (const [field, values] of enums.get(name.split('.').slice(-3).join('_')) ?? []) {
    const property = schema.properties?.[field] as Raw | undefined;
    const target = property?.type === 'array' ? (property.items as Raw) : property;
    if (target?.type === 'string') target.enum = values;
  }
}
