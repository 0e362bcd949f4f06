import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostFolders } from './host-folders.ts';

const root = mkdtempSync(join(tmpdir(), 'rookery-folders-'));
const given = join(root, 'given');
const own = join(root, 'given', 'rookery');
const folders = new HostFolders([given, join(root, 'alias')], own);
const socket = createServer();

beforeAll(async () => {
  for (const folder of [given, own, join(root, 'real'), join(root, 'given-not')]) mkdirSync(folder);
  writeFileSync(join(given, 'file'), '');
  symlinkSync('/etc', join(given, 'etc'));
  symlinkSync(join(root, 'nowhere'), join(given, 'dangling'));
  symlinkSync(own, join(given, 'keys'));
  symlinkSync(join(root, 'real'), join(root, 'alias'));
  await new Promise<void>((resolve) => socket.listen(join(given, 'engine.sock'), resolve));
});
afterAll(() => {
  socket.close();
  rmSync(root, { recursive: true, force: true });
});

it.each(['file', '', 'not/there/yet'])('allows given/%s', async (path) => {
  await expect(folders.check(join(given, path || 'file'))).resolves.toBeUndefined();
});

it('allows what an allowed link leads to', async () => {
  expect(await folders.allows(join(root, 'real/x'))).toBe(true);
  expect(await folders.allows(join(root, 'alias/x'))).toBe(true);
});

it.each([
  ['/etc/passwd', 'outside of the folders'],
  ['/', "holds or lies in Rookery's own folder"],
  [join(root, 'given-not'), 'outside of the folders'],
  [join(given, 'etc'), 'it leads to /etc'],
  [join(given, 'etc/ssh/not-there'), 'it leads to /etc'],
  [join(given, 'dangling'), 'a symbolic link that leads nowhere'],
  [join(given, 'dangling/below'), 'a symbolic link that leads nowhere'],
  [given, "holds or lies in Rookery's own folder"],
  [own, "lies in Rookery's own folder"],
  [join(own, 'keys.json'), "lies in Rookery's own folder"],
  [join(given, 'keys/keys.json'), "lies in Rookery's own folder"],
  [join(given, 'engine.sock'), 'it is a socket'],
  [`${given}/../real-not`, 'without ..'],
  ['relative', 'an absolute path'],
  [`${given}/a\0b`, 'an absolute path'],
])('refuses %s', async (path, why) => {
  await expect(folders.check(path)).rejects.toMatchObject({ code: 'host.path', message: expect.stringContaining(why) });
  await expect(folders.check(path)).rejects.toMatchObject({ hint: expect.stringContaining('ROOKERY_HOST_FOLDERS') });
});

it('allows nothing unless told to', async () => {
  expect(await new HostFolders([]).allows('/tmp')).toBe(false);
});
