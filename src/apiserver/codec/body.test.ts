import { expect, test } from 'vitest';
import { LARGE } from '../turns.ts';
import { decodeObject } from './body.ts';

/** How many turns the event loop makes while something is decoded. */
async function turnsOf(text: string, type: string): Promise<number> {
  let turns = 0;
  let going = true;
  const count = () => {
    turns++;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await decodeObject(Buffer.from(text), type);
  going = false;
  return turns;
}

const object = (size: number) => JSON.stringify({ kind: 'ConfigMap', data: { text: 'x'.repeat(size) } });

test('a large body leaves the event loop to others in between, a small one is decoded at once', async () => {
  expect(await turnsOf(object(100), 'application/json')).toBe(0);
  expect(await turnsOf(object(LARGE), 'application/json')).toBeGreaterThan(1);
  expect(await turnsOf(object(LARGE), 'application/yaml')).toBeGreaterThan(1);
});

test('JSON that is called YAML is read like JSON', async () => {
  const twice = '{"a":1,"a":2}';
  const json = await decodeObject(Buffer.from(twice), 'application/json');
  expect(await decodeObject(Buffer.from(twice), 'application/yaml')).toEqual(json);
  expect(json).toEqual({ value: { a: 2 }, duplicates: ['a'] });
});
