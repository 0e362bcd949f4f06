/** A disk that fills up: reads go on, deletes make room, and the process can be stopped. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Http } from '../../harness/http.ts';
import { Rookery, until } from '../../harness/rookery.ts';
import { type Attack, held, NotHeld, type Subject } from '../attack.ts';
import { credentialsIn, done, named, type Scene } from '../scene.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const DISK_MB = 64;

interface FullDisk {
  rookery: Rookery;
  http: Http;
  /** Removes the file that fills the disk. */
  makeRoom(): void;
}

/** A control plane whose home is on a small file system that something else has filled. */
async function onFullDisk(act: (disk: FullDisk) => Promise<void>): Promise<void> {
  const rookery = new Rookery({ ROOKERY_WEB_PORT: '0' });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'tmpfs', rookery.home]);
  let http: Http | undefined;
  try {
    const { url } = await rookery.json<{ url: string }>('up', '--detach', '--no-demo');
    const { ca, token } = credentialsIn(join(rookery.home, 'kubeconfig'));
    http = new Http(url, ca, token);
    for (let i = 0; i < 20; i++) {
      await done(http.post(MAPS, { ...named('v1', 'ConfigMap', `kept${i}`), data: { a: 'x'.repeat(20_000) } }));
    }
    await until('the reserve', () => existsSync(join(rookery.home, 'reserve')));
    await delay(1_000);
    const filler = join(rookery.home, 'filler');
    mkdirSync(filler);
    fill(filler);
    await act({ rookery, http, makeRoom: () => rmSync(filler, { recursive: true }) });
  } finally {
    http?.close();
    await rookery.run('down');
    execFileSync('umount', ['-l', rookery.home]);
    rmSync(rookery.home, { recursive: true, force: true });
  }
}

function fill(folder: string): void {
  for (const size of [1024 * 1024, 4096]) {
    for (let i = 0; ; i++) {
      try {
        writeFileSync(join(folder, `${size}-${i}`), Buffer.alloc(size));
      } catch {
        break;
      }
    }
  }
}

async function writesUntilRefused(http: Http): Promise<string> {
  for (let i = 0; i < 500; i++) {
    const body = { ...named('v1', 'ConfigMap', `more${i}`), data: { a: 'x'.repeat(500_000) } };
    const { status, text } = await http.post(MAPS, body);
    if (status >= 500) return text;
  }
  throw new NotHeld('writes went on although the disk is full');
}

function fullDisk(name: string, act: (disk: FullDisk) => Promise<void>): Attack {
  return { name, run: () => onFullDisk(act) };
}

export const disks: Subject = {
  name: 'disks',
  attacks: [
    fullDisk('fills the disk and reads', async ({ http }) => {
      const said = await writesUntilRefused(http);
      held(/disk|space/i.test(said), `the refusal does not say why: ${said}`);
      held(!said.includes('/tmp/'), `the refusal shows a path: ${said}`);
      for (let i = 0; i < 50; i++) held((await http.get(`${MAPS}/kept0`)).status === 200, 'reads fail');
    }),
    fullDisk('fills the disk; the owner deletes and writes again', async ({ http, makeRoom }) => {
      await writesUntilRefused(http);
      held((await http.delete(`${MAPS}/kept1`)).status === 200, 'a delete was refused');
      makeRoom();
      for (let i = 0; i < 100; i++) {
        if ((await http.post(MAPS, named('v1', 'ConfigMap', 'after'))).status === 201) return;
        await delay(100);
      }
      throw new NotHeld('writes are refused although there is room again');
    }),
    fullDisk('fills the disk; the administrator stops the server', async ({ rookery, http }) => {
      await writesUntilRefused(http);
      const { code, stderr } = await rookery.run('down');
      held(code === 0, `down ended with ${code}: ${stderr}`);
    }),
    {
      name: 'stores 400 objects of 900 kB in one virtual cluster',
      run: async ({ red, blue }: Scene) => {
        let refusal = '';
        for (let i = 0; i < 400 && !refusal; i++) {
          const body = { ...named('v1', 'ConfigMap', `quota${i}`), data: { a: 'x'.repeat(900_000) } };
          const { status, text } = await red.http.post(MAPS, body);
          if (status === 403 || status === 507) refusal = text;
        }
        held(/quota|limit/i.test(refusal), `no quota stopped it: ${refusal.slice(0, 200)}`);
        const deleted = await red.http.delete(MAPS);
        held(deleted.status === 200, `red could not delete its objects: ${deleted.status}`);
        held(
          (await blue.http.post(`${MAPS}?dryRun=All`, named('v1', 'ConfigMap', 'x'))).status === 201,
          'blue is refused',
        );
      },
    },
  ],
};
