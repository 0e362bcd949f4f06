/**
 * Regular expressions users give us, in RE2 syntax and linear time: a pattern from a CRD must not be able to hold the
 * event loop. Compiled once and kept; the cache is bounded because tenants can bring any number of patterns.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { chargeWork } from '../allowance.ts';

const LIMIT = 2000;

interface Compiled {
  re: RE2JS | Error;
  /** The same pattern for the native engine, where that cannot be slow or differ; some hundred times faster. */
  native?: RegExp;
}

const compiled = new Map<string, Compiled>();

function lookup(pattern: string): Compiled {
  let entry = compiled.get(pattern);
  if (entry === undefined) {
    entry = compile(pattern);
    if (compiled.size >= LIMIT) compiled.delete(compiled.keys().next().value as string);
    compiled.set(pattern, entry);
  }
  return entry;
}

let engine: typeof RE2JS | undefined;

/** Loaded with the first pattern: it brings Unicode's tables, and many clusters never see a pattern. */
function re2(): typeof RE2JS {
  engine ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  return engine;
}

/** Compiling one instruction of a pattern, in units of work. */
const COMPILED = 20;

function compile(pattern: string): Compiled {
  try {
    const re = re2().compile(pattern);
    chargeWork(re.programSize() * COMPILED);
    return { re, native: nativeForm(pattern) };
  } catch (error) {
    return { re: new Error(goMessage(error)) };
  }
}

/** The compiled pattern, or the error it does not compile with. */
export function compilePattern(pattern: string): RE2JS | Error {
  return lookup(pattern).re;
}

/** Texts the native engine may see: with at most two repetitions its work is at most the square of this. */
const NATIVE_LENGTH = 512;

/** Whether the pattern is found anywhere in the text; the error of the pattern itself where it has one. */
export function matchesPattern(pattern: string, text: string): boolean | Error {
  const { re, native } = lookup(pattern);
  if (native !== undefined && text.length <= NATIVE_LENGTH) return native.test(text);
  if (re instanceof Error) return re;
  mindPattern(re, text);
  return re.test(text);
}

/** At worst, each instruction of the pattern is tried at each place of the text; most are not. */
export function mindPattern(re: RE2JS, text: string): void {
  chargeWork((text.length * re.programSize()) / 16);
}

const CLASS = '\\[\\^?(?:[A-Za-z0-9_ :,@%+=~/.*?#!&;<>"\'(){}|$-]|\\\\[-.\\\\/_*+?$])+\\]';
const LITERAL = '[A-Za-z0-9_ :,@%=~/#!&;<>"\'-]|\\\\[-.\\\\/*+?$(){}|^[\\]]';
const SIMPLE = new RegExp(`^\\^(?:(?:${CLASS}|${LITERAL})(?:[*+?]|\\{\\d{1,3}(?:,\\d{0,3})?\\})?)*\\$?$`);

/** Anchored sequences of ASCII classes and letters, without groups: both engines agree on those. */
function nativeForm(pattern: string): RegExp | undefined {
  if (!SIMPLE.test(pattern) || (pattern.match(/[*+]|,\}/g) ?? []).length > 2) return undefined;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

function goMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^.*?error parsing regexp/, 'error parsing regexp');
}
