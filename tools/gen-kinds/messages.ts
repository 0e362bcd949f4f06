/** Protobuf messages from `generated.proto`, with what the Go types add about their JSON form. */
import { existsSync, readFileSync } from 'node:fs';
import type { GoPackage } from './go-types.ts';
import { packageDir } from './modules.ts';

/** [number, JSON name, type, flags]; flags: r repeated, m map, z dropped when zero, i inlined into the parent, u the message is this list. */
export type FieldRow = [number, string, string, string];

const SCALARS = new Set(['string', 'bool', 'int32', 'int64', 'bytes', 'double']);
const LINE = /^\s+(?:optional|required|(repeated)) (\S+) (\w+) = (\d+);|^\s+map<string, (\S+)> (\w+) = (\d+);/;

/** Messages of one package, or undefined if the package has no protobuf form. */
export function readMessages(prefix: string, go: GoPackage): Record<string, FieldRow[]> | undefined {
  const file = `${packageDir(prefix)}/generated.proto`;
  if (!existsSync(file)) return undefined;
  const messages: Record<string, FieldRow[]> = {};
  let name = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const open = /^message (\w+) \{/.exec(line);
    if (open) {
      name = open[1] as string;
      messages[name] = [];
      continue;
    }
    const match = LINE.exec(line);
    if (!match) continue;
    const map = match[5] !== undefined;
    const number = Number(map ? match[7] : match[4]);
    const proto = (map ? match[6] : match[3]) as string;
    const field = go.structs.get(name)?.get(number);
    let flags = map ? 'm' : match[1] ? 'r' : '';
    if (field?.inline) flags += 'i';
    // `type Verbs []string` travels as a message around the list; its JSON form is the list.
    if (go.aliases.get(name)?.startsWith('[]')) flags += 'u';
    const type = typeName((map ? match[5] : match[2]) as string, prefix);
    // Go's omitempty never drops a struct, omitzero does.
    const droppable = field && (field.omitzero || (field.omitempty && SCALARS.has(type)));
    if (droppable && flags === '' && !field.pointer) flags += 'z';
    messages[name]?.push([number, jsonName(field?.json, proto), type, flags]);
  }
  return messages;
}

function typeName(raw: string, prefix: string): string {
  if (SCALARS.has(raw)) return raw;
  if (raw.startsWith('.')) return raw.replace(/^\.k8s\.io\./, 'io.k8s.');
  return `${prefix}.${raw}`;
}

function jsonName(json: string | undefined, proto: string): string {
  // `json:"-"` is the raw content of a type that writes its own JSON.
  return json && json !== '-' ? json : proto;
}
