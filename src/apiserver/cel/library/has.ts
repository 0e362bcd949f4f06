/** `has(e.f)` for any expression `e`; cel-js' own takes chains of names only. */
import type { CelNode } from '../meter.ts';

interface Checker {
  check(node: unknown, context: unknown): { kind: string; valueType?: unknown };
  checkAccessOnType(node: unknown, context: unknown, type: unknown): unknown;
  createError(code: string, message: string, node: unknown): Error;
  getType(name: string): unknown;
}

interface Evaluator {
  run(node: unknown, context: unknown): unknown;
  debugType(value: unknown): { fieldLazy(value: unknown, key: string, node: unknown, ev: unknown): unknown };
}

interface Optional {
  hasValue(): boolean;
  value(): unknown;
}

/** Replaces the macro of a `has(…)` node. */
export function has(node: CelNode): void {
  const [, [field]] = node.args as [string, [CelNode]];
  const macro = {
    args: [field],
    async: false,
    typeCheck(checker: Checker, _macro: unknown, context: unknown) {
      if (field.op !== '.' && field.op !== '.?') {
        throw checker.createError('invalid_macro_argument', 'invalid argument to has() macro', field);
      }
      const left = checker.check((field.args as unknown[])[0], context);
      checker.checkAccessOnType(field, context, left.kind === 'optional' ? left.valueType : left);
      return checker.getType('bool');
    },
    evaluate(ev: unknown, _macro: unknown, context: unknown) {
      const evaluator = ev as Evaluator;
      const [receiver, key] = field.args as [unknown, string];
      let value = evaluator.run(receiver, context);
      if (isOptional(value)) {
        if (!value.hasValue()) return false;
        value = value.value();
      }
      return evaluator.debugType(value).fieldLazy(value, key, field, ev) !== undefined;
    },
  };
  (node as unknown as { setMeta(key: string, value: unknown): void }).setMeta('macro', macro);
  (node as unknown as { setMeta(key: string, value: unknown): void }).setMeta('async', false);
}

function isOptional(value: unknown): value is Optional {
  return typeof value === 'object' && value !== null && 'hasValue' in value && 'orValue' in value;
}
