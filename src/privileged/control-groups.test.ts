import { randomUUID } from 'node:crypto';
import { existsSync, utimesSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { limitGroups, removeGroups, sweepGroups } from './control-groups.ts';

const ids = { old: randomUUID(), oldButOurs: randomUUID(), young: randomUUID() };
afterAll(async () => {
  for (const id of Object.values(ids)) await removeGroups(id);
});

const isLimited = process.getuid?.() === 0 && (await limitGroups(ids.old)).groups.length > 0;

it.runIf(isLimited)('sweeps groups that nobody has used for long, but neither young ones nor its own', async () => {
  const { groups: old } = await limitGroups(ids.old, { memory: 64 * 2 ** 20, cpu: 0.001 });
  const { groups: ours } = await limitGroups(ids.oldButOurs);
  const { groups: young } = await limitGroups(ids.young);
  const yesterday = new Date(Date.now() - 24 * 3_600_000);
  for (const folder of [...old, ...ours]) utimesSync(folder, yesterday, yesterday);
  await sweepGroups(new Set([ids.oldButOurs]));
  expect(old.filter((folder) => existsSync(folder))).toEqual([]);
  expect([...ours, ...young].every((folder) => existsSync(folder))).toBe(true);
});

it.runIf(isLimited)('takes limits beyond what the kernel counts', async () => {
  const { groups, why } = await limitGroups(ids.young, { memory: 8 * 2 ** 60, cpu: 1e9 });
  expect(groups).not.toEqual([]);
  expect(why).toBeUndefined();
});
