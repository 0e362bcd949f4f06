/** Decodes upstream's protobuf sample of every GA kind and compares with its JSON twin; encodes that and compares bytes. */
import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { decodeProtobuf } from '../../src/apiserver/codec/protobuf.ts';
import { encodeProtobuf } from '../../src/apiserver/codec/protobuf-encoder.ts';
import { staging } from './modules.ts';
import { readGroups } from './resources.ts';

/** Kinds servers answer with, never sent as a body. */
const ANSWERS = new Set(['APIGroup', 'APIVersions', 'WatchEvent']);

export function checkProtobuf(): string[] {
  const problems: string[] = [];
  const served = new Set(readGroups().flatMap((g) => g.versions.map((v) => `${g.name || 'core'}.${v}`)));
  let compared = 0;
  for (const dir of [
    `${staging('api')}/testdata/HEAD`,
    `${staging('apiextensions-apiserver')}/pkg/apis/testdata/HEAD`,
  ]) {
    for (const file of readdirSync(dir)) {
      const [, groupVersion, kind] = /^(.+)\.(\w+)\.pb$/.exec(file) ?? [];
      if (!groupVersion || !kind || !served.has(groupVersion) || ANSWERS.has(kind)) continue;
      compared++;
      const golden = JSON.parse(readFileSync(`${dir}/${file.replace(/pb$/, 'json')}`, 'utf8'));
      try {
        const sample = readFileSync(`${dir}/${file}`);
        // The last four bytes are two empty fields of the envelope, which may as well be absent.
        if (!encodeProtobuf(golden).equals(sample.subarray(0, -4))) {
          problems.push(`protobuf: ${groupVersion} ${kind}: is encoded otherwise`);
        }
        const ours = decodeProtobuf(sample);
        const place = firstDifference(ours, golden, '');
        if (place !== undefined || !isDeepStrictEqual(ours, golden))
          problems.push(`protobuf: ${groupVersion} ${kind}: ${place}`);
      } catch (error) {
        problems.push(`protobuf: ${groupVersion} ${kind}: ${(error as Error).message}`);
      }
    }
  }
  console.log(`protobuf: ${compared} samples compared`);
  return problems;
}

function firstDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) {
    return a === b ? undefined : `${path}: ${JSON.stringify(a)} instead of ${JSON.stringify(b)}`;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(
      (a as Record<string, unknown>)[key],
      (b as Record<string, unknown>)[key],
      `${path}.${key}`,
    );
    if (found) return found;
  }
  return undefined;
}
