/** `matches`, `find`, `findAll` with RE2: an expression can meet any string, so backtracking is not an option. */
import type { RE2JS } from 're2js';
import { compilePattern, matchesPattern } from '../../schema/pattern.ts';
import type { Library } from '../engine.ts';

/** cel-js has its own `matches`, on backtracking regular expressions; calls are renamed to this one. */
export const MATCHES = 'matchesRe2';

export function registerRegex(library: Library): void {
  const compile = (pattern: string): RE2JS => {
    const re = compilePattern(pattern);
    return re instanceof Error ? library.fail(re.message) : re;
  };
  const matches = (text: string, pattern: string) => {
    const result = matchesPattern(pattern, text);
    return result instanceof Error ? library.fail(result.message) : result;
  };
  const find = (text: string, pattern: string, limit: number): string[] => {
    const found: string[] = [];
    const matcher = compile(pattern).matcher(text);
    while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
    return found;
  };
  library
    .add(`string.${MATCHES}(string): bool`, matches)
    .add('matches(string, string): bool', matches)
    .add('string.find(string): string', (text: string, pattern: string) => find(text, pattern, 1)[0] ?? '')
    .add('string.findAll(string): list<string>', (text: string, pattern: string) => find(text, pattern, -1))
    .add('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      find(text, pattern, Number(limit)),
    );
}
