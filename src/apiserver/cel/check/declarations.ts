/** Functions an environment offers: their overloads for the checker, their implementations for running. */
import type { Value } from '../values/value.ts';
import { param, parseType, splitTypes, Type } from './type.ts';

export type Implementation = (...args: never[]) => Value;

export interface Overload {
  id: string;
  member: boolean;
  args: readonly Type[];
  result: Type;
  params: readonly string[];
  run?: Implementation;
  /** Arguments are evaluated one by one and the first error ends it; else both of two are evaluated. */
  variadic: boolean;
}

export interface FunctionDeclaration {
  name: string;
  overloads: Overload[];
  /** One implementation for all overloads, which finds out by itself what it was given. */
  run?: Implementation;
  /** Values that `run` takes as its first argument; others are no such overload. */
  takes?: (value: Value) => boolean;
  /** Errors are arguments like any other. */
  nonStrict?: boolean;
  /** The types of arguments are not checked before the implementation is called. */
  unguarded?: boolean;
}

interface Options {
  run?: Implementation;
  takes?: (value: Value) => boolean;
  nonStrict?: boolean;
  unguarded?: boolean;
}

/** `string.size() int` or `size(string) int`, under the overload's id; with its implementation where it has its own. */
type Signature = string | [string, Implementation] | [string, Implementation, 'variadic'];

export function declare(
  name: string,
  signatures: Record<string, Signature>,
  options: Options = {},
): FunctionDeclaration {
  const overloads = Object.entries(signatures).map(([id, signature]): Overload => {
    const [text, run, variadic] = typeof signature === 'string' ? [signature] : signature;
    return { ...parseSignature(text), id, run, variadic: variadic !== undefined };
  });
  return { name, overloads, ...options };
}

/** `receiver.(int, int) list(T)` or `(string) bool`. */
function parseSignature(text: string): Pick<Overload, 'member' | 'args' | 'result' | 'params'> {
  const member = /^(.+?)\.\(/.exec(text);
  const receiver = member?.[1];
  const rest = receiver === undefined ? text : text.slice(receiver.length + 1);
  const close = closing(rest);
  const args = splitTypes(rest.slice(1, close)).map(parseType);
  if (receiver !== undefined) args.unshift(parseType(receiver));
  const result = parseType(rest.slice(close + 1).trim());
  return { member: receiver !== undefined, args, result, params: [...paramsOf([...args, result])] };
}

function closing(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return i;
  }
  throw new Error(`no signature: ${text}`);
}

function paramsOf(types: readonly Type[], found = new Set<string>()): Set<string> {
  for (const type of types) {
    if (type.kind === 'param') found.add(type.name);
    paramsOf(type.params, found);
  }
  return found;
}

/** The overload with fresh type parameters: those of two calls have nothing to do with one another. */
export function instantiate({ args, result, params }: Overload, fresh: () => Type): { args: Type[]; result: Type } {
  if (params.length === 0) return { args: [...args], result };
  const by = new Map(params.map((name) => [name, fresh()]));
  const replace = (type: Type): Type => {
    if (type.kind === 'param') return by.get(type.name) ?? param(type.name);
    return type.params.length === 0 ? type : new Type(type.kind, type.name, type.params.map(replace));
  };
  return { args: args.map(replace), result: replace(result) };
}
