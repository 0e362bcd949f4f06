/** A YAML file checked against a schema, every problem with its line. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { Problem } from './problem.ts';

export interface Checked<T> {
  value?: T;
  problems: Problem[];
}

export function checkYaml<S extends z.ZodType>(file: string, text: string, schema: S): Checked<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      file,
      line: lineAt(error.pos[0]),
      field: '',
      message: error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'is not YAML',
      fix: 'correct the YAML',
    }));
    return { problems };
  }
  const root = document.contents;
  if (!root) return { problems: [{ file, line: 1, field: '', message: 'is empty', fix: 'see docs/workshops.md' }] };
  const result = schema.safeParse(document.toJS());
  if (result.success) return { value: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue) => {
    const path = issue.path as (string | number)[];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        file,
        line: lineOf(root, [...path, key], lineAt),
        field: fieldText([...path, key]),
        message: 'is not known here',
        fix: 'remove it, or check its spelling',
      }));
    }
    return [{ file, line: lineOf(root, path, lineAt), field: fieldText(path), message: issue.message }];
  });
  return { problems };
}

export function fieldText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
}

/** The line of the nearest thing on the path that is in the file. */
function lineOf(root: Node, path: readonly (string | number)[], lineAt: (offset: number) => number): number {
  let node: Node = root;
  let offset = root.range?.[0] ?? 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
      if (!pair) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      if (!isNode(pair.value)) break;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(part)];
      if (!isNode(item)) break;
      node = item;
      offset = item.range?.[0] ?? offset;
    } else break;
  }
  return lineAt(offset);
}
