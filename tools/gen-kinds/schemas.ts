/** Definitions of the published OpenAPI documents as bare facts: no prose, references by name. */
import { readFileSync } from 'node:fs';
import { kubernetes } from './modules.ts';
import { type GroupRow, readGroups } from './resources.ts';

// biome-ignore lint/suspicious/noExplicitAny: raw OpenAPI
type Raw = Record<string, any>;

export interface Gvk {
  group: string;
  version: string;
  kind: string;
}

export interface Definitions {
  schemas: Map<string, Raw>;
  /** Definition name → the one GVK it is registered as. */
  kinds: Map<string, Gvk>;
  /** `group/version/kind` of those whose DELETE answers with the object instead of a Status. */
  returnsDeleted: Set<string>;
}

const KEPT = new Set([
  'type',
  'format',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
]);

export function readDefinitions(groups: GroupRow[] = readGroups()): Definitions {
  const schemas = new Map<string, Raw>();
  const kinds = new Map<string, Gvk>();
  const returnsDeleted = new Set<string>();
  for (const { name, versions } of groups) {
    for (const version of versions) {
      const file = name ? `apis__${name}__${version}` : `api__${version}`;
      const text = readFileSync(`${kubernetes()}/api/openapi-spec/v3/${file}_openapi.json`, 'utf8');
      const document = JSON.parse(text) as Raw;
      for (const path of Object.values(document.paths as Record<string, Raw>)) {
        const kind =
          path.delete?.['x-kubernetes-action'] === 'delete' && path.delete['x-kubernetes-group-version-kind'];
        const answer = path.delete?.responses['200'].content['application/json']?.schema.$ref as string | undefined;
        if (kind && !answer?.endsWith('.v1.Status')) returnsDeleted.add(`${name}/${version}/${kind.kind}`);
      }
      const components = document.components.schemas as Record<string, Raw>;
      for (const [definition, raw] of Object.entries(components)) {
        if (schemas.has(definition)) continue;
        schemas.set(definition, compact(raw));
        // Options and WatchEvent are registered in every group; their list is made when it is published.
        const gvks = raw['x-kubernetes-group-version-kind'] as Gvk[] | undefined;
        if (gvks?.length === 1) kinds.set(definition, gvks[0] as Gvk);
      }
    }
  }
  return { schemas, kinds, returnsDeleted };
}

export function compact(raw: Raw): Raw {
  const out: Raw = {};
  const reference = (raw.$ref ?? raw.allOf?.[0]?.$ref) as string | undefined;
  if (reference) out.$ref = reference.replace('#/components/schemas/', '');
  for (const [key, value] of Object.entries(raw)) if (KEPT.has(key)) out[key] = value;
  // `""` and `0` only say "not a pointer in Go"; `{}` says so too, and server-side apply has to know it.
  if (raw.default) out.default = raw.default;
  if (raw.items) out.items = compact(raw.items);
  if (raw.additionalProperties) out.additionalProperties = compact(raw.additionalProperties);
  if (raw.oneOf) out.oneOf = raw.oneOf;
  if (raw.properties) {
    out.properties = {};
    for (const [name, property] of Object.entries(raw.properties as Record<string, Raw>)) {
      out.properties[name] = compact(property);
    }
  }
  return out;
}
