/**
 * Writes `src/apiserver/kinds/tables/`: the facts about built-in kinds (names, types, markers, protobuf numbers) taken
 * from the published Kubernetes modules. Run after a change of version: `npx tsx tools/gen-kinds/main.ts`.
 * Needs Go and the module proxy; the product and its tests need neither.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addEnums } from './enums.ts';
import { type GoPackage, readGoPackage } from './go-types.ts';
import { type FieldRow, readMessages } from './messages.ts';
import { META, packageDir } from './modules.ts';
import { readGroups, readResources } from './resources.ts';
import { readDefinitions } from './schemas.ts';

const OUT = fileURLToPath(new URL('../../src/apiserver/kinds/tables/', import.meta.url));

/** One entry per line: small diffs when upstream changes. */
function lines(entries: [string, unknown][]): string {
  return `{\n${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',\n')}\n}\n`;
}

function packageOf(definition: string): string {
  return definition.slice(0, definition.lastIndexOf('.'));
}

const groups = readGroups();
const definitions = readDefinitions(groups);
const byKind = new Map([...definitions.kinds].map(([name, k]) => [`${k.group}/${k.version}/${k.kind}`, name]));
function definitionOf(group: string, version: string, kind: string): string {
  const name = byKind.get(`${group}/${version}/${kind}`);
  if (!name) throw new Error(`no definition for ${group}/${version} ${kind}`);
  return name;
}
const rows = readResources(groups, definitionOf, definitions.returnsDeleted);

const packages = new Map<string, GoPackage>();
function goPackage(prefix: string): GoPackage {
  let go = packages.get(prefix);
  if (!go) {
    go = readGoPackage(packageDir(prefix));
    packages.set(prefix, go);
  }
  return go;
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);

writeFileSync(
  `${OUT}resources.json`,
  `{"groups":[\n${groups.map((g) => JSON.stringify(g)).join(',\n')}\n],"resources":[\n${rows.map((r) => JSON.stringify(r)).join(',\n')}\n]}\n`,
);

const prefixes = new Set([...definitions.schemas.keys()].map(packageOf));
for (const prefix of [...prefixes].sort()) {
  const own = [...definitions.schemas]
    .filter(([name]) => packageOf(name) === prefix)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = own.map(([name, schema]): [string, unknown] => {
    addEnums(name, schema);
    const gvk = definitions.kinds.get(name);
    return [name.slice(prefix.length + 1), gvk ? { ...schema, gvk: [gvk.group, gvk.version, gvk.kind] } : schema];
  });
  writeFileSync(`${OUT}${prefix}.schemas.json`, lines(entries));
}

// Messages reach further than definitions (runtime.Unknown, options); follow the references.
const pending = new Set([...prefixes, META, 'io.k8s.apimachinery.pkg.runtime']);
for (const prefix of pending) {
  const messages = readMessages(prefix, goPackage(prefix));
  if (!messages) continue;
  for (const fields of Object.values(messages)) {
    for (const [, , type] of fields as FieldRow[]) if (type.includes('.')) pending.add(packageOf(type));
  }
  writeFileSync(`${OUT}${prefix}.messages.json`, lines(Object.entries(messages)));
}
console.log(`${rows.length} resources, ${definitions.schemas.size} definitions, ${pending.size} packages`);
