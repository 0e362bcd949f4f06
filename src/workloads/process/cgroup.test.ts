import { randomUUID } from 'node:crypto';
import { existsSync, utimesSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { limitGroups, removeGroups, sweepGroups } from './cgroup.ts';

const ids = { old: randomUUID(), oldButOurs: randomUUID(), young: randomUUID() };
afterAll(async () => {
  for (const id of Object.values(ids)) await removeGroups(id);
});

const isLimited = process.getuid?.() === 0 && (await limitGroups(ids.old, { memory: '64Mi', cpu: '1m' })).length > 0;

it.runIf(isLimited)('sweeps groups that nobody has used for long, but neither young ones nor its own', async () => {
  const old = await limitGroups(ids.old, { memory: '64Mi', cpu: '1m' });
  const ours = await limitGroups(ids.oldButOurs);
  const young = await limitGroups(ids.young);
  const yesterday = new Date(Date.now() - 24 * 3_600_000);
  for (const folder of [...old, ...ours]) utimesSync(folder, yesterday, yesterday);
  await sweepGroups(new Set([ids.oldButOurs]));
  expect(old.filter((folder) => existsSync(folder))).toEqual([]);
  expect([...ours, ...young].every((folder) => existsSync(folder))).toBe(true);
});

it.runIf(isLimited)('takes limits beyond what the kernel counts', async () => {
  expect(await limitGroups(ids.young, { memory: '8Ei', cpu: '1e9' })).not.toEqual([]);
});
