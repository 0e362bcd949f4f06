import { expect, test } from 'vitest';
import { LARGE } from '../turns.ts';
import { decodeObject } from './body.ts';
import { readYaml } from './yaml.ts';

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

/** JSON of about so many characters. */
const object = (size: number) => {
  const keys = Array.from({ length: size / 20 }, (_, i) => [`key-${i}`.padEnd(12, '-'), 'x']);
  return JSON.stringify({ kind: 'ConfigMap', data: Object.fromEntries(keys) });
};

test('a large body leaves the event loop to others in between, a small one is decoded at once', async () => {
  expect(await turnsOf(object(100), 'application/json')).toBe(0);
  expect(await turnsOf(object(20 * LARGE), 'application/json')).toBeGreaterThan(1);
  expect(await turnsOf(object(20 * LARGE), 'application/yaml')).toBeGreaterThan(1);
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

test('large JSON comes out as JSON.parse makes it, and what is none is a bad request', async () => {
  const text = object(3 * LARGE);
  const { value, duplicates } = await decodeObject(Buffer.from(text), 'application/json');
  expect(JSON.stringify(value)).toBe(text);
  expect(duplicates).toEqual([]);
  const broken = decodeObject(Buffer.from(`${text.slice(0, -2)},}`), 'application/json');
  await expect(broken).rejects.toMatchObject({ code: 400, message: expect.stringContaining('json parse error: ') });
}, 100_000);

test('real YAML of many keys leaves the event loop to others, too, and comes out whole', async () => {
  const count = 20_000;
  const text = `kind: ConfigMap\ndata:\n${Array.from({ length: count }, (_, i) => `  key-${i}: "${i}"\n`).join('')}`;
  expect(await turnsOf(text, 'application/yaml')).toBeGreaterThan(4);
  const { value, duplicates } = await decodeObject(Buffer.from(`${text}  key-7: again\n`), 'application/yaml');
  const { data } = value as { data: Record<string, string> };
  expect(Object.keys(data)).toHaveLength(count);
  expect(data['key-7']).toBe('again');
  expect(duplicates).toEqual(['data.key-7']);
}, 100_000);

test('YAML comes out the same, whichever thread reads it', async () => {
  const yaml = await import('yaml');
  const one = (i: number) =>
    `- {name: n${i}, yes: no, at: 2020-01-01, list: [1, 0x1f, ~, "\\x41"]}\n- &a${i} |\n  text\n- *a${i}\n`;
  const text = Array.from({ length: 400 }, (_, i) => one(i)).join('');
  expect(text.length).toBeGreaterThan(16 * 1024);
  const here = readYaml(yaml, text, 200);
  const { value, ...rest } = await decodeObject(Buffer.from(text), 'application/yaml');
  expect({ json: JSON.stringify(value), ...rest }).toEqual(here);
}, 100_000);

test('YAML of more tokens than a thread has memory for is refused', async () => {
  const text = `[${'a,'.repeat(1_000_000)}]`;
  await expect(decodeObject(Buffer.from(text), 'application/yaml')).rejects.toMatchObject({ code: 413 });
}, 100_000);

test('YAML that is none is a bad request', async () => {
  await expect(decodeObject(Buffer.from('a: [1'), 'application/yaml')).rejects.toMatchObject({ code: 400 });
});

/** As sigs.k8s.io/yaml 1.6 answers. */
test.each([
  ['a: 1\n---\nb: 2\n', { a: 1 }],
  ['---\na: 1\n---\nb: [1\n', { a: 1 }],
  ['---\n---\n---\n', null],
  ['a: 1\n...\n%junk\n', { a: 1 }],
  ['a: 1\n--- b\n', { a: 1 }],
  ['# c\n---\na: 1\n...\n', { a: 1 }],
  ['a: 1\n...\nb: 2\n', { a: 1 }],
])('of %j only the first document is read', async (text, value) => {
  expect((await decodeObject(Buffer.from(text), 'application/yaml')).value).toEqual(value);
});
