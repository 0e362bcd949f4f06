/**
 * YAML 1.1 as Kubernetes reads it (`yes` is a boolean): the first document of a text, as the real server reads it, which
 * never looks at what follows. Reading takes microseconds for each token, and hundreds of bytes: of small texts it is done
 * on the main thread, which is metered, and of others on a worker thread.
 */
import type { CST, ParsedNode } from 'yaml';
import { chargeWork } from '../allowance.ts';
import { badRequest, tooLarge } from '../status.ts';

type Yaml = typeof import('yaml');

export interface YamlRead {
  /** The same in JSON. */
  json: string;
  /** Paths of keys that stand twice. */
  duplicates: string[];
  /** The same in the words of the real server's reader: by line. */
  repetitions: string[];
}

/** Units of work for a token, see chargeWork. */
const TOKEN_WORK = 50;
/** Tokens of a text. That many, read, nearly fill the memory of a worker thread. */
const TOKEN_LIMIT = 1_000_000;
/** A token between brackets needs as much memory as so many others. */
const FLOW_TOKEN = 2.5;

/** Refuses what is nested deeper than `depth`. */
export function readYaml(
  { Lexer, Parser, Composer, isMap, isScalar, isSeq }: Yaml,
  text: string,
  depth: number,
): YamlRead {
  const options = { version: '1.1', uniqueKeys: false, strict: true, merge: true } as const;
  const tokens = firstDocument(new Parser(), new Lexer().lex(text));
  // Composing recurses: so deep that the stack runs out inside of a RegExp, it takes the whole process with it.
  checkDepth(tokens, depth);
  const [document] = [...new Composer(options).compose(tokens, true, text.length)];
  const problem = document?.errors[0]?.message;
  if (!document || problem) throw unreadable(problem ?? 'no document');
  let json: string;
  try {
    json = JSON.stringify(document.toJS({ maxAliasCount: 100 })) ?? 'null';
  } catch (cause) {
    throw unreadable((cause as Error).message);
  }
  return { json, ...duplicateKeys({ isMap, isScalar, isSeq }, document.contents, text) };
}

function unreadable(problem: string): Error {
  return badRequest(`error converting YAML to JSON: yaml: ${problem}`);
}

/** All tokens up to the end of the first document. */
function firstDocument(parser: InstanceType<Yaml['Parser']>, lexemes: Iterable<string>): CST.Token[] {
  const tokens: CST.Token[] = [];
  let count = 0;
  let brackets = 0;
  for (const lexeme of lexemes) {
    chargeWork(TOKEN_WORK);
    if (lexeme === '[' || lexeme === '{') brackets++;
    else if (lexeme === ']' || lexeme === '}') brackets--;
    count += brackets > 0 ? FLOW_TOKEN : 1;
    if (count > TOKEN_LIMIT) throw tooLarge(`YAML of more than ${TOKEN_LIMIT} tokens is not read: send it as JSON`);
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'document') return tokens;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** Without recursion: this is what keeps others from it. */
function checkDepth(tokens: unknown[], limit: number): void {
  let level = tokens;
  for (let depth = 0; level.length > 0; depth++) {
    // A collection and its item are two tokens.
    if (depth > 2 * limit + 2) throw badRequest('exceeded max depth');
    level = level.flatMap((token) => {
      const { items, key, value } = token as { items?: unknown[]; key?: unknown; value?: unknown };
      return [...(items ?? []), key, value].filter((part) => typeof part === 'object' && part !== null);
    });
  }
}

function duplicateKeys(
  { isMap, isScalar, isSeq }: Pick<Yaml, 'isMap' | 'isScalar' | 'isSeq'>,
  root: ParsedNode | null,
  text: string,
): Omit<YamlRead, 'json'> {
  const found = new Set<string>();
  const repetitions: string[] = [];
  const lineAt = lineCounter(text);
  const visit = (node: unknown, path: string): void => {
    if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
        const at = path ? `${path}.${key}` : key;
        if (seen.has(key)) {
          found.add(at);
          const line = lineAt(isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0);
          repetitions.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
        }
        seen.add(key);
        visit(pair.value, at);
      }
    } else if (isSeq(node)) node.items.forEach((item, index) => void visit(item, `${path}[${index}]`));
  };
  visit(root, '');
  return { duplicates: [...found], repetitions };
}

/** Asked in the order of the text, it reads the text once. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let at = 0;
  return (offset) => {
    for (; at < offset; at++) if (text.charCodeAt(at) === 0x0a) line++;
    return line;
  };
}
