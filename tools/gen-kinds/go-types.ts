/**
 * What only the Go types say: whether a field is dropped when empty, and whether it is inlined in JSON. Reads the
 * package by line; upstream's formatter keeps it regular.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface GoField {
  /** JSON name; empty when inlined. */
  json: string;
  inline: boolean;
  omitempty: boolean;
  omitzero: boolean;
  pointer: boolean;
  type: string;
}

export interface GoPackage {
  /** struct name → protobuf field number → field */
  structs: Map<string, Map<number, GoField>>;
  /** Named types that are not structs: `Verbs` → `[]string`. */
  aliases: Map<string, string>;
}

const FIELD = /^\t(?:(\w+)\s+)?(\*?)(\S+)\s+`(.*)`/;

export function readGoPackage(dir: string): GoPackage {
  const result: GoPackage = { structs: new Map(), aliases: new Map() };
  for (const file of readdirSync(dir).sort()) {
    if (!file.endsWith('.go') || file.endsWith('_test.go') || /^(generated|zz_)/.test(file)) continue;
    let struct: Map<number, GoField> | undefined;
    for (const line of readFileSync(`${dir}/${file}`, 'utf8').split('\n')) {
      const open = /^type (\w+) struct \{/.exec(line);
      if (open) {
        struct = new Map();
        result.structs.set(open[1] as string, struct);
      } else if (struct) {
        if (line === '}') struct = undefined;
        else readField(line, struct);
      } else {
        const alias = /^type (\w+) (\[\]\S+|map\S+)$/.exec(line);
        if (alias) result.aliases.set(alias[1] as string, alias[2] as string);
      }
    }
  }
  return result;
}

function readField(line: string, struct: Map<number, GoField>): void {
  const field = FIELD.exec(line);
  if (!field) return;
  const [, , star, type, tags] = field as unknown as [string, string, string, string, string];
  const protobuf = /protobuf:"\w+,(\d+),/.exec(tags);
  const json = /json:"([^"]*)"/.exec(tags)?.[1];
  if (!protobuf || json === undefined) return;
  const [name = '', ...options] = json.split(',');
  struct.set(Number(protobuf[1]), {
    json: name,
    inline: options.includes('inline'),
    omitempty: options.includes('omitempty'),
    omitzero: options.includes('omitzero'),
    pointer: star === '*',
    type,
  });
}
