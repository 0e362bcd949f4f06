import { describe, expect, it } from 'vitest';
import { compileCondition } from './condition.ts';

describe('match conditions', () => {
  it('see the request and its objects', () => {
    const condition = compileCondition(
      "object.spec.replicas > 2 && request.operation == 'CREATE' && oldObject == null",
    );
    expect(condition.evaluate({ object: { spec: { replicas: 3 } }, request: { operation: 'CREATE' } })).toBe(true);
    expect(condition.evaluate({ object: { spec: { replicas: 1 } }, request: { operation: 'CREATE' } })).toBe(false);
  });

  it('are refused when they are no expressions, or not of yes and no', () => {
    expect(() => compileCondition('object.')).toThrow('ERROR: <input>:1:8: Syntax error');
    expect(() => compileCondition('1')).toThrow('must evaluate to bool');
  });

  it('fail where the object lacks what they ask for', () => {
    expect(() => compileCondition('object.spec.a == 1').evaluate({ object: { spec: {} } })).toThrow('no such key: a');
  });

  it('end when they cost too much', () => {
    const list = Array.from({ length: 3000 }, (_, i) => i);
    const condition = compileCondition('object.l.all(x, object.l.all(y, object.l.all(z, x + y + z >= 0)))');
    expect(() => condition.evaluate({ object: { l: list } })).toThrow('cost limit exceeded');
  });
});
