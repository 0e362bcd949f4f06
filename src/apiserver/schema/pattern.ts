/**
 * Regular expressions users give us, in RE2 syntax and linear time: a pattern from a CRD must not be able to hold the
 * event loop. Compiled once and kept; the cache is bounded because tenants can bring any number of patterns.
 */
import { RE2JS } from 're2js';

const LIMIT = 2000;
const compiled = new Map<string, RE2JS | Error>();

/** The compiled pattern, or the error it does not compile with. */
export function compilePattern(pattern: string): RE2JS | Error {
  let entry = compiled.get(pattern);
  if (entry === undefined) {
    try {
      entry = RE2JS.compile(pattern);
    } catch (error) {
      entry = new Error(goMessage(error));
    }
    if (compiled.size >= LIMIT) compiled.delete(compiled.keys().next().value as string);
    compiled.set(pattern, entry);
  }
  return entry;
}

/** Whether the pattern is found anywhere in the text; the error of the pattern itself where it has one. */
export function matchesPattern(pattern: string, text: string): boolean | Error {
  const re = compilePattern(pattern);
  return re instanceof Error ? re : re.matcher(text).find();
}

function goMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^.*?error parsing regexp/, 'error parsing regexp');
}
