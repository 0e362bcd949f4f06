/** Adds the values of Go's `+enum` types to the fields that have such a type; the published documents leave them out. */
import type { GoPackage } from './go-types.ts';

// biome-ignore lint/suspicious/noExplicitAny: raw OpenAPI
type Raw = Record<string, any>;

/** Short import names upstream uses for the packages that own enum types. */
const IMPORTS: Record<string, string> = {
  v1: 'io.k8s.api.core.v1',
  corev1: 'io.k8s.api.core.v1',
  core: 'io.k8s.api.core.v1',
};

export function addEnums(definitions: [string, Raw][], own: GoPackage, packageOf: (prefix: string) => GoPackage): void {
  for (const [name, schema] of definitions) {
    const struct = own.structs.get(name.slice(name.lastIndexOf('.') + 1));
    if (!struct || !schema.properties) continue;
    for (const field of struct.values()) {
      const property = schema.properties[field.json] as Raw | undefined;
      if (!property) continue;
      const list = field.type.startsWith('[]');
      const values = enumOf(list ? field.type.slice(2) : field.type, own, packageOf);
      const target = list ? (property.items as Raw | undefined) : property;
      if (values && target?.type === 'string') target.enum = values;
    }
  }
}

function enumOf(type: string, own: GoPackage, packageOf: (prefix: string) => GoPackage): string[] | undefined {
  const [left, right] = type.split('.') as [string, string | undefined];
  if (right === undefined) return own.enums.get(left);
  const prefix = IMPORTS[left];
  return prefix ? packageOf(prefix).enums.get(right) : undefined;
}
