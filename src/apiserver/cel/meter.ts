/**
 * The cost of running expressions. Every step of an evaluation is counted, and steps that look at many elements or long
 * strings count for more, so that no object, however large, can hold the event loop: past the limit the evaluation ends.
 * Evaluation is synchronous, so one meter for the process is enough.
 */
interface Node {
  op: string;
  args: unknown;
  meta: { alternate?: Node; macro?: Macro; evaluate: Evaluate };
  evaluate: Evaluate;
  handle?: (...operands: unknown[]) => unknown;
}
type Evaluate = (ev: unknown, ast: unknown, context: unknown) => unknown;
interface Macro {
  evaluate: Evaluate;
}

export type { Node as CelNode };

/** About 40 ms on one core of a small machine; the real server allows about 1 s, but it has threads. */
export const OBJECT_BUDGET = 400_000;

/** What one step is worth, in characters looked at and in elements compared (measured). */
const CHARACTERS = 50;
const ELEMENTS = 5;

let left = 0;

class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/** One instance: inside `all` and `exists` errors are caught per element, so it may be thrown very often. */
const SPENT = new BudgetError('operation cancelled: actual cost limit exceeded');

export function refill(budget: number): void {
  left = budget;
}

export function isSpent(): boolean {
  return left < 0;
}

function charge(cost: number): void {
  left -= cost;
  if (left < 0) throw SPENT;
}

/** For functions that compare elements with one another, or make texts longer than those they are given. */
export function chargeElements(count: number): void {
  charge(count / ELEMENTS);
}

export function chargeCharacters(count: number): void {
  charge(count / CHARACTERS);
}

/** Calls `visit` for every node of a parsed expression, those inside macros included. */
export function eachNode(root: unknown, visit: (node: Node) => void, seen = new Set<unknown>()): void {
  if (typeof root !== 'object' || root === null || seen.has(root) || root instanceof Uint8Array) return;
  seen.add(root);
  if (Array.isArray(root)) {
    for (const item of root) eachNode(item, visit, seen);
    return;
  }
  const node = root as Partial<Node>;
  if (typeof node.op === 'string' && 'args' in node && node.meta) {
    visit(node as Node);
    eachNode(node.args, visit, seen);
    eachNode(node.meta.alternate, visit, seen);
    eachNode(node.meta.macro, visit, seen);
  } else if (root.constructor === Object) {
    for (const value of Object.values(root)) eachNode(value, visit, seen);
  }
}

/** Makes a checked expression count its steps. */
export function instrument(root: unknown): void {
  eachNode(root, (node) => {
    const { alternate, macro, evaluate } = node.meta;
    if (node.op === 'value') return;
    if (alternate) node.evaluate = (ev, _ast, context) => alternate.evaluate(ev, alternate, context);
    else if (macro) {
      node.evaluate = (ev, _ast, context) => {
        charge(1);
        return macro.evaluate(ev, macro, context);
      };
    } else {
      node.evaluate = (ev, ast, context) => {
        if (--left < 0) throw SPENT;
        return evaluate(ev, ast, context);
      };
      const handle = node.handle;
      const joins = node.op === 'rcall' && (node.args as unknown[])[0] === 'join';
      if (handle && SIZED.has(node.op)) {
        node.handle = (...operands) => {
          charge(sizeOf(operands[0]) + sizeOf(operands[1]));
          if (joins) chargeJoin(operands[0] as [unknown, unknown?]);
          return handle(...operands);
        };
      }
    }
  });
}

const SIZED = new Set(['in', '==', '!=', '+', 'call', 'rcall']);

/** The separator of `join` comes as often as there are elements. */
function chargeJoin([list, separator]: [unknown, unknown?]): void {
  if (typeof separator === 'string') chargeCharacters(countOf(list) * separator.length);
}

/** How much work a function may make of an operand. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS;
  // The operands of a call come as one list: the arguments count, not their number.
  if (Array.isArray(value) && value.length <= 4) return value.reduce<number>((sum, item) => sum + partSize(item), 0);
  return countOf(value) / ELEMENTS;
}

function partSize(value: unknown): number {
  return typeof value === 'string' ? value.length / CHARACTERS : countOf(value) / ELEMENTS;
}

function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return value instanceof Map || value instanceof Set ? value.size : 0;
}
