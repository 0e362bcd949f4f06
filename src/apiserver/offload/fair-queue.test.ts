import { expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const ANY = () => true;

function queueOf(...tasks: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const task of tasks) queue.add(ownerOf(task), task);
  return queue;
}

/** `tenant/user/number` */
function ownerOf(task: string) {
  const [tenant = '', user = ''] = task.split('/');
  return { tenant, user };
}

function all(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let task = queue.take(ANY); task; task = queue.take(ANY)) taken.push(task);
  return taken;
}

it('serves tenants in turn, and the users of each', () => {
  const queue = queueOf('a/u/1', 'a/u/2', 'a/u/3', 'a/v/1', 'b/u/1', 'b/u/2');
  expect(all(queue)).toEqual(['a/u/1', 'b/u/1', 'a/v/1', 'b/u/2', 'a/u/2', 'a/u/3']);
});

it('serves the next user before the rest of many tasks', () => {
  const queue = queueOf(...Array.from({ length: 24 }, (_, i) => `a/noisy/${i}`));
  queue.take(ANY);
  queue.add(ownerOf('a/quiet/1'), 'a/quiet/1');
  queue.add(ownerOf('b/other/1'), 'b/other/1');
  expect([queue.take(ANY), queue.take(ANY), queue.take(ANY)].sort()).toEqual(['a/noisy/1', 'a/quiet/1', 'b/other/1']);
});

it('leaves out tenants that may not be served now', () => {
  const queue = queueOf('a/u/1', 'b/u/1');
  expect(queue.take((tenant) => tenant !== 'a')).toBe('b/u/1');
  expect(queue.take((tenant) => tenant !== 'a')).toBeUndefined();
  expect(all(queue)).toEqual(['a/u/1']);
});

it('forgets what is removed', () => {
  const queue = queueOf('a/u/1', 'a/u/2', 'b/u/1');
  for (const task of ['a/u/1', 'b/u/1', 'b/u/1', 'c/u/1']) queue.remove(ownerOf(task), task);
  expect(queue.countOf(ownerOf('a/u/2'))).toBe(1);
  expect(all(queue)).toEqual(['a/u/2']);
});
