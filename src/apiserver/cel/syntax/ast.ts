/** Parsed expressions. Macros are expanded while parsing, so that only these few forms are left. */
import type { Value } from '../values/value.ts';

export interface Literal {
  kind: 'literal';
  id: number;
  value: Value;
}

export interface Ident {
  kind: 'ident';
  id: number;
  name: string;
}

export interface Select {
  kind: 'select';
  id: number;
  operand: Expr;
  field: string;
  /** `has(a.b)`: asks whether there is such a field. */
  test: boolean;
}

export interface Call {
  kind: 'call';
  id: number;
  name: string;
  target?: Expr;
  args: Expr[];
}

export interface ListLiteral {
  kind: 'list';
  id: number;
  elements: Expr[];
  /** Indexes of elements written `?x`. */
  optionals: number[];
}

export interface Entry {
  id: number;
  key: Expr;
  value: Expr;
  optional: boolean;
}

export interface MapLiteral {
  kind: 'map';
  id: number;
  entries: Entry[];
}

export interface Struct {
  kind: 'struct';
  id: number;
  name: string;
  fields: { id: number; name: string; value: Expr; optional: boolean }[];
}

/** A loop that carries one value, the accumulator, from element to element. */
export interface Fold {
  kind: 'fold';
  id: number;
  range: Expr;
  iterVar: string;
  /** Empty where the loop has one variable. */
  iterVar2: string;
  accuVar: string;
  init: Expr;
  condition: Expr;
  step: Expr;
  result: Expr;
}

export type Expr = Literal | Ident | Select | Call | ListLiteral | MapLiteral | Struct | Fold;

/** The parts of an expression, in the order they were written. */
export function children(expr: Expr): Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args;
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'fold':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
  }
}
