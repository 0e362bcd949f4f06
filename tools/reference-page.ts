// A reference page per kind, written from its schema.
import { structural } from '../src/api/crd.ts';
import type { KindDefinition } from '../src/api/kind.ts';

interface Node {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  properties?: Record<string, Node>;
  items?: Node;
  additionalProperties?: Node;
  required?: string[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-validations'?: { rule: string; message: string }[];
}

export function referenceIndex(kinds: KindDefinition[]): string {
  const rows = kinds.map(
    (kind) =>
      `| [${kind.kind}](${kind.kind.toLowerCase()}.md) | \`${kind.group}/${kind.version}\` | ${kind.description} |`,
  );
  return `# Reference\n\nGenerated from the schemas in \`src/api\` by \`make generate\`; do not edit.\n\n| Kind | API version | |\n|---|---|---|\n${rows.join('\n')}\n`;
}

export function referencePage(kind: KindDefinition): string {
  const { group, version, plural, shortNames, scope, description } = kind;
  const names = [plural, ...shortNames].map((name) => `\`${name}\``).join(', ');
  return `# ${kind.kind}

${description}

\`${group}/${version}\` · ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'} · kubectl names: ${names}

## Example

\`\`\`yaml
${kind.example}\`\`\`

## Spec

${table(structural(kind.spec) as Node, 'spec')}
${rules([structural(kind.spec) as Node], kind.rules)}
## Status

${table(structural(kind.status) as Node, 'status')}`;
}

function table(schema: Node, root: string): string {
  const rows = [...fields(schema, root)];
  return `| Field | Type | |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function* fields(schema: Node, path: string): Generator<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.${name}`;
    const required = schema.required?.includes(name) ? ' **required**' : '';
    yield `| \`${at}\` | ${typeOf(field)}${required} | ${notes(field)} |`;
    if (field.properties) yield* fields(field, at);
    if (field.items?.properties) yield* fields(field.items, `${at}[]`);
    if (field.additionalProperties?.properties) yield* fields(field.additionalProperties, `${at}.*`);
  }
}

function typeOf(field: Node): string {
  if (field['x-kubernetes-int-or-string']) return 'integer or string';
  if (field.items) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`;
  return field.format === 'date-time' ? 'time' : (field.type ?? 'any');
}

function notes(field: Node): string {
  const parts = [field.description ?? ''];
  if (field.enum) parts.push(`One of ${field.enum.map((value) => `\`${value}\``).join(', ')}.`);
  if (field.default !== undefined) parts.push(`Default \`${JSON.stringify(field.default)}\`.`);
  for (const { message } of field['x-kubernetes-validations'] ?? []) parts.push(`Rule: ${message}.`);
  return parts.filter(Boolean).join(' ').replaceAll('|', '\\|');
}

function rules(schemas: Node[], own: { message: string }[] = []): string {
  const all = [...schemas.flatMap((schema) => schema['x-kubernetes-validations'] ?? []), ...own];
  return all.length > 0 ? `\nRules:\n\n${all.map(({ message }) => `- ${message}`).join('\n')}\n` : '';
}
