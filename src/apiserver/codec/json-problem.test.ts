import { expect, it } from 'vitest';
import { jsonProblem } from './json-problem.ts';

it.each([
  ['', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['{"a":"', 'unexpected end of JSON input'],
  ['[1,', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['{"a":x}', "invalid character 'x' looking for beginning of value"],
])('%s', (text, expected) => {
  try {
    JSON.parse(text);
  } catch (error) {
    expect(jsonProblem(text, error as Error)).toBe(expected);
    return;
  }
  throw new Error('it was valid');
});
