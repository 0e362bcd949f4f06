import { expect, it } from 'vitest';
import { type Finding, type LinkState, type Look, rootCause, walk } from './chain.ts';

const look =
  (subject: string, state: LinkState, ...causes: Look[]): Look =>
  async (): Promise<Finding> => ({ link: { subject, state, what: '', output: [], recent: [] }, causes });

const subjects = async (start: Look) => (await walk(start)).map((link) => link.subject);

it('follows what is not well, to the end', async () => {
  const tool = look('tool', 'blocked');
  const provider = look('provider', 'working', look('host', 'ok'), tool);
  const chain = await walk(look('cluster', 'working', look('machines', 'ok'), provider));
  expect(chain.map((link) => link.subject)).toEqual(['cluster', 'provider', 'tool']);
  expect(rootCause(chain)?.subject).toBe('tool');
});

it('stops where everything below is well: the thing itself is the cause', async () => {
  const chain = await walk(look('cluster', 'working', look('provider', 'ok', look('tool', 'blocked'))));
  expect(chain.map((link) => link.subject)).toEqual(['cluster']);
  expect(rootCause(chain)?.subject).toBe('cluster');
});

it('asks nothing further about what is well', async () => {
  const never: Look = () => Promise.reject(new Error('asked'));
  const chain = await walk(look('cluster', 'ok', never));
  expect(rootCause(chain)).toBeUndefined();
});

it('does not run in circles', async () => {
  const a: Look = look('a', 'working', () => b());
  const b: Look = look('b', 'working', () => a());
  expect(await subjects(a)).toEqual(['a', 'b']);
});
