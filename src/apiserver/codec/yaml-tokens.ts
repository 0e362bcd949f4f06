/**
 * The first half of reading YAML: text into tokens. With many keys this is most of the work, so it is done in slices,
 * between which everyone else gets the event loop. (A worker thread was weighed: what is left in one piece, composing,
 * takes about 3 µs per key, which 250 kB of usual YAML do not make long. Nearly all clients send JSON anyway.)
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CST } from 'yaml';
import { badRequest } from '../status.ts';

const SLICE_MS = 10;
/** Looking at the clock each time would cost as much as the work. */
const LOOK_EVERY = 128;

/** Refuses what is nested deeper than `depth`. */
export async function yamlTokens(text: string, depth: number): Promise<CST.Token[]> {
  const { Lexer, Parser } = await import('yaml');
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let until = performance.now() + SLICE_MS;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (++count % LOOK_EVERY !== 0 || performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  for (const token of parser.end()) tokens.push(token);
  // Composing recurses: so deep that the stack runs out inside of a RegExp, it takes the whole process with it.
  checkDepth(tokens, depth);
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
