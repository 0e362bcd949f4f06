import { expect, it } from 'vitest';
import { compareElements, goQuote, keyElement, showPath, valueElement } from './path-element.ts';

it('writes elements as fieldsV1 has them', () => {
  expect(keyElement(['port', 'protocol'], [80, 'TCP'])).toBe('k:{"port":80,"protocol":"TCP"}');
  expect(keyElement(['name', 'port'], ['x', undefined])).toBe('k:{"name":"x"}');
  expect(valueElement('a<b')).toBe('v:"a\\u003cb"');
});

it('shows paths as messages have them', () => {
  const path = ['f:spec', 'f:containers', 'k:{"name":"web","port":80}', 'f:image'];
  expect(showPath(path)).toBe('.spec.containers[name="web",port=80].image');
  expect(showPath(['f:metadata', 'f:finalizers', 'v:"a/b"'])).toBe('.metadata.finalizers[="a/b"]');
  expect(showPath(['i:3'])).toBe('[3]');
});

it('quotes as Go does', () => {
  expect(goQuote('a"b\n')).toBe('"a\\"b\\n"');
  expect(goQuote('\u0001é\u007f')).toBe('"\\x01é\\x7f"');
});

it('orders fields by name, keys and values by what they hold', () => {
  const sorted = ['v:"b"', 'v:2', 'k:{"port":443}', 'k:{"port":80}', 'f:b', 'f:a', 'v:10'].sort(compareElements);
  expect(sorted).toEqual(['f:a', 'f:b', 'k:{"port":80}', 'k:{"port":443}', 'v:2', 'v:10', 'v:"b"']);
});
