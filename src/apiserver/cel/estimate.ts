/**
 * How much an expression may cost at worst, from the sizes its schema allows: an expression that cannot be afforded is
 * refused with the CRD that brings it. Follows cel-go's checker/cost.go, rounding down where in doubt (running is metered anyway).
 */
import type { CelType } from './cel-type.ts';
import type { CelNode } from './meter.ts';

export const RULE_LIMIT = 10_000_000;
export const SCHEMA_LIMIT = 100_000_000;

interface Estimate {
  cost: number;
  /** What is known of the value; sizes beyond that are taken as small. */
  type?: CelType;
}

type Scope = ReadonlyMap<string, CelType | undefined>;

const STRING: CelType = { name: 'string', kind: 'string', max: 0, min: 2, convert: (v) => v };

export function estimateCost(ast: CelNode, self: CelType): number {
  return estimate(
    ast,
    new Map([
      ['self', self],
      ['oldSelf', self],
    ]),
  ).cost;
}

function estimate(node: CelNode, scope: Scope): Estimate {
  const { alternate, macro } = node.meta;
  if (alternate) return estimate(alternate, scope);
  if (macro) return macroCost(node, macro as never, scope);
  // biome-ignore lint/suspicious/noExplicitAny: operands differ with the operator, see cel-js' ASTNode
  const args = node.args as any[];
  switch (node.op) {
    case 'value':
      return typeof node.args === 'string' ? { cost: 0, type: { ...STRING, max: node.args.length } } : { cost: 0 };
    case 'id':
      return { cost: 1, type: scope.get(node.args as string) };
    case '.':
    case '.?': {
      const left = estimate(args[0], scope);
      const field = left.type?.fields?.get(args[1])?.type ?? left.type?.element;
      return { cost: left.cost + 1, type: field };
    }
    case '[]':
    case '[?]': {
      const left = estimate(args[0], scope);
      return { cost: left.cost + estimate(args[1], scope).cost + 1, type: left.type?.element };
    }
    case 'comprehension':
      return comprehension(node.args as never, scope);
    case '?:': {
      const [condition, yes, no] = args.map((arg) => estimate(arg, scope));
      return { cost: (condition?.cost ?? 0) + Math.max(yes?.cost ?? 0, no?.cost ?? 0), type: yes?.type ?? no?.type };
    }
    case 'call':
      return call(args[0], undefined, args[1], scope);
    case 'rcall':
      return call(args[0], args[1], args[2], scope);
    case 'list':
    case 'map':
      return { cost: 10 + sum(args.flat(), scope) };
    case 'accuValue':
    case 'accuInc':
      return { cost: 1 };
    case 'accuPush':
    case '!_':
    case '-_':
      return { cost: 1 + estimate(node.args as never, scope).cost };
    default:
      return binary(node.op, args[0], args[1], scope);
  }
}

function sum(nodes: CelNode[], scope: Scope): number {
  return nodes.reduce((total, node) => total + estimate(node, scope).cost, 0);
}

function sizeOf(type: CelType | undefined): number {
  return type === undefined || type.kind === 'object' || type.kind === 'scalar' ? 1 : type.max;
}

function binary(op: string, a: CelNode, b: CelNode, scope: Scope): Estimate {
  const [left, right] = [estimate(a, scope), estimate(b, scope)];
  const cost = left.cost + right.cost;
  if (op === '&&' || op === '||') return { cost };
  if (op === 'in') return { cost: cost + Math.max(1, right.type?.kind === 'list' ? sizeOf(right.type) : 1) };
  if (op === '+' && left.type?.kind === 'string') {
    const max = sizeOf(left.type) + sizeOf(right.type);
    return { cost: cost + Math.ceil(max / 10), type: { ...STRING, max } };
  }
  if (/^[=!<>]/.test(op))
    return { cost: cost + Math.max(1, Math.ceil(Math.min(sizeOf(left.type), sizeOf(right.type)) / 10)) };
  return { cost: cost + 1 };
}

interface Comprehension {
  iterable: CelNode;
  iterVarName: string;
  init: CelNode;
  step: CelNode;
}

function comprehension({ iterable, iterVarName, init, step }: Comprehension, scope: Scope): Estimate {
  const range = estimate(iterable, scope);
  const count = sizeOf(range.type);
  const item =
    range.type?.kind === 'list' ? range.type.element : range.type?.kind === 'map' ? { ...STRING, max: 50 } : undefined;
  const each = estimate(step, new Map([...scope, [iterVarName, item]]));
  const type = range.type?.kind === 'list' ? range.type : undefined;
  return { cost: range.cost + estimate(init, scope).cost + count * (each.cost + 1), type };
}

/** has(), cel.bind(), optionals: everything inside, once. */
function macroCost(node: CelNode, macro: Record<string, unknown>, scope: Scope): Estimate {
  if (macro.var !== undefined) {
    const value = estimate(macro.val as CelNode, scope);
    const inner = estimate(macro.exp as CelNode, new Map([...scope, [macro.var as string, value.type]]));
    return { cost: 10 + value.cost + inner.cost, type: inner.type };
  }
  if (macro.key !== undefined) return twoVariables(macro as never, scope);
  const inside = [macro.receiver, macro.arg, macro.exp, ...((macro.args as unknown[]) ?? [])].filter(isNode);
  return {
    cost: 1 + sum(inside, scope),
    ...(node.op === 'rcall' && isNode(macro.arg) ? { type: estimate(macro.arg, scope).type } : {}),
  };
}

function twoVariables(
  macro: { receiver: CelNode; value: string; filter?: CelNode; exp: CelNode },
  scope: Scope,
): Estimate {
  const range = estimate(macro.receiver, scope);
  const inner = new Map([...scope, [macro.value, range.type?.element]]);
  const each = estimate(macro.exp, inner).cost + (macro.filter ? estimate(macro.filter, inner).cost : 0);
  return { cost: range.cost + sizeOf(range.type) * (each + 1), type: range.type };
}

function isNode(value: unknown): value is CelNode {
  return typeof value === 'object' && value !== null && 'op' in value;
}

function call(name: string, receiver: CelNode | undefined, args: CelNode[], scope: Scope): Estimate {
  const target = receiver && estimate(receiver, scope);
  const given = args.map((arg) => estimate(arg, scope));
  const cost = (target?.cost ?? 0) + given.reduce((total, arg) => total + arg.cost, 0);
  const length = sizeOf(target?.type ?? given[0]?.type) / 10;
  const pattern = sizeOf(given.at(-1)?.type);
  switch (name) {
    case 'matchesRe2':
    case 'matches':
    case 'find':
    case 'findAll':
      return { cost: cost + Math.ceil(length + 1) * Math.max(1, Math.ceil(pattern / 4)), type: target?.type };
    case 'contains':
      return { cost: cost + Math.ceil(length) * Math.max(1, Math.ceil(pattern / 10)) };
    case 'startsWith':
    case 'endsWith':
      return { cost: cost + Math.ceil(pattern / 10) };
    case 'isSorted':
    case 'sum':
    case 'min':
    case 'max':
    case 'indexOf':
    case 'lastIndexOf':
      return { cost: cost + sizeOf(target?.type) };
    case 'lowerAscii':
    case 'upperAscii':
    case 'replace':
    case 'split':
    case 'substring':
    case 'trim':
    case 'url':
    case 'isURL':
    case 'quantity':
    case 'isQuantity':
      return { cost: cost + Math.max(1, Math.ceil(length)), type: target?.type };
    default:
      return { cost: cost + 1, type: name === 'orValue' || name === 'value' ? target?.type : undefined };
  }
}
