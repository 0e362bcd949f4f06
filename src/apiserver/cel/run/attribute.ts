/**
 * Variables and what is taken from them: `a.b[0].?c`. One attribute is one step of the cost, and each of its qualifiers
 * another, which is why they are not nested look-ups.
 */

import { goType, show } from '../values/show.ts';
import { CelError, List, MapValue, NONE, Optional, Uint, type Value } from '../values/value.ts';
import type { Frame } from './frame.ts';
import { charge } from './meter.ts';

/** Found, not there, or an error. */
type Found = { present: boolean; value: Value };

export interface Qualifier {
  optional: boolean;
  /** Only whether it is there: the last step of `has(…)`. */
  test: boolean;
  key(frame: Frame): Value;
}

export interface Attribute {
  /** Ternaries cost nothing by themselves. */
  readonly free: boolean;
  qualify(qualifier: Qualifier): void;
  resolve(frame: Frame): Value;
}

export class Reference implements Attribute {
  readonly free = false;
  private readonly base: (frame: Frame) => Value;
  private readonly qualifiers: Qualifier[] = [];

  constructor(base: (frame: Frame) => Value) {
    this.base = base;
  }

  qualify(qualifier: Qualifier): void {
    this.qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Value {
    const value = this.base(frame);
    if (value instanceof CelError || this.qualifiers.length === 0) return value;
    return apply(frame, value, this.qualifiers);
  }
}

export class Choice implements Attribute {
  readonly free = true;
  private readonly condition: (frame: Frame) => Value;
  private readonly yes: Attribute;
  private readonly no: Attribute;

  constructor(condition: (frame: Frame) => Value, yes: Attribute, no: Attribute) {
    this.condition = condition;
    this.yes = yes;
    this.no = no;
  }

  qualify(qualifier: Qualifier): void {
    this.yes.qualify(qualifier);
    this.no.qualify(qualifier);
  }

  resolve(frame: Frame): Value {
    const condition = this.condition(frame);
    if (condition === true) return this.yes.resolve(frame);
    if (condition === false) return this.no.resolve(frame);
    return condition instanceof CelError ? condition : new CelError('no such overload');
  }
}

function apply(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Value {
  let value = start;
  let optional = start instanceof Optional;
  if (start instanceof Optional) {
    if (start.value === undefined) return start;
    value = start.value;
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional;
    if (optional) {
      const found = step(frame, value, qualifier, true);
      if (found instanceof CelError) return found;
      if (!found.present) return NONE;
      value = found.value;
    } else {
      const found = step(frame, value, qualifier, qualifier.test);
      charge(1);
      if (found instanceof CelError) return found;
      value = qualifier.test ? found.present : found.value;
      continue;
    }
    charge(1);
  }
  return optional ? new Optional(value) : value;
}

function step(frame: Frame, value: Value, qualifier: Qualifier, presence: boolean): Found | CelError {
  const key = qualifier.key(frame);
  if (key instanceof CelError) return key;
  if (key === null || (typeof key === 'object' && !(key instanceof Uint))) {
    return new CelError(`invalid qualifier type: ${goType(key)}`);
  }
  return lookUp(value, key, presence);
}

const ABSENT: Found = { present: false, value: null };

/** `presence`: not being there is no error. */
function lookUp(value: Value, key: Value, presence: boolean): Found | CelError {
  if (value instanceof MapValue) {
    const found = value.find(key);
    if (found instanceof CelError) return found;
    if (found !== undefined) return { present: true, value: found };
    return presence ? ABSENT : new CelError(`no such key: ${show(key)}`);
  }
  if (value instanceof List) {
    const found = value.get(key);
    if (!(found instanceof CelError)) return { present: true, value: found };
    if (!found.message.startsWith('index out of bounds')) return found;
    return presence ? ABSENT : new CelError(`index out of bounds: ${show(key)}`);
  }
  if (value instanceof CelError) return value;
  return presence ? ABSENT : new CelError(`no such key: ${show(key)}`);
}
