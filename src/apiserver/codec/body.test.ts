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
  const { placesOf, ...json } = await decodeObject(Buffer.from(twice), 'application/json');
  expect(await decodeObject(Buffer.from(twice), 'application/yaml')).toMatchObject({
    ...json,
    repetitions: ['line 1: key "a" already set in map'],
  });
  expect(json).toEqual({ value: { a: 2 }, duplicates: ['a'] });
  expect(placesOf?.('a')).toEqual([1, 7]);
});

test('real YAML of many keys leaves the event loop to others, too, and comes out whole', async () => {
  const count = 20_000;
  const text = `kind: ConfigMap\ndata:\n${Array.from({ length: count }, (_, i) => `  key-${i}: "${i}"\n`).join('')}`;
  expect(await turnsOf(text, 'application/yaml')).toBeGreaterThan(4);
  const { value, duplicates } = await decodeObject(Buffer.from(`${text}  key-7: again\n`), 'application/yaml');
  const { data } = value as { data: Record<string, string> };
  expect(Object.keys(data)).toHaveLength(count);
  expect(data['key-7']).toBe('again');
  expect(duplicates).toEqual(['data.key-7']);
});

test('YAML that is none, or more than one document, is a bad request', async () => {
  for (const text of ['a: [1', 'a: 1\n---\nb: 2\n']) {
    await expect(decodeObject(Buffer.from(text), 'application/yaml')).rejects.toMatchObject({ code: 400 });
  }
});
