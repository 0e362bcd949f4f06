/** Files of the home that are lost, damaged or swapped while the control plane is stopped, and a process that is killed. */
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Http } from '../../harness/http.ts';
import { Rookery } from '../../harness/rookery.ts';
import { type Attack, held, NotHeld, type Subject } from '../attack.ts';
import { credentialsIn, named } from '../scene.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

interface Installation {
  rookery: Rookery;
  file(...path: string[]): string;
  /** Creates a ConfigMap in the cluster; says whether it was acknowledged. */
  write(cluster: string, name: string): Promise<boolean>;
  has(cluster: string, name: string): Promise<boolean>;
}

async function installed(act: (installation: Installation) => Promise<void>): Promise<void> {
  const rookery = new Rookery({ ROOKERY_WEB_PORT: '0' });
  const file = (...path: string[]) => join(rookery.home, ...path);
  const ask = async (cluster: string, work: (http: Http) => Promise<boolean>) => {
    const { ca, token } = credentialsIn(file('clusters', `${cluster}.kubeconfig`));
    const { url } = JSON.parse(readFileSync(file('state.json'), 'utf8'));
    const http = new Http(`${url}/clusters/${cluster}`, ca, token);
    try {
      return await work(http);
    } catch {
      return false;
    } finally {
      http.close();
    }
  };
  const installation: Installation = {
    rookery,
    file,
    write: (cluster, name) =>
      ask(cluster, async (http) => (await http.post(MAPS, named('v1', 'ConfigMap', name))).status === 201),
    has: (cluster, name) => ask(cluster, async (http) => (await http.get(`${MAPS}/${name}`)).status === 200),
  };
  try {
    await up(rookery);
    for (const name of ['one', 'two']) {
      await rookery.run('cluster', 'create', name);
      held(await installation.write(name, 'kept'), `cluster ${name} took no write`);
    }
    await act(installation);
  } finally {
    await rookery.close();
  }
}

async function up(rookery: Rookery) {
  return rookery.run('up', '--detach', '--no-demo');
}

/** Rookery says that the store of `one` is lost, keeps `two` running, and makes no empty cluster in its place. */
async function isSaid({ rookery, has }: Installation): Promise<void> {
  const started = await up(rookery);
  held(started.code === 0, `up ended with ${started.code}: ${started.stderr}`);
  for (let i = 0; i < 50; i++) {
    const { stdout } = await rookery.run('why', 'one');
    if (/StoreMissing|StoreDamaged|backup restore/.test(stdout)) {
      held(await has('two', 'kept'), 'the other cluster does not answer');
      held(!(await has('one', 'kept')), 'the damaged cluster answered');
      return;
    }
    await delay(200);
  }
  throw new NotHeld(`why says: ${(await rookery.run('why', 'one')).stdout.slice(0, 400)}`);
}

function tenantDamage(name: string, damage: (file: string, other: string) => void): Attack {
  return {
    name,
    run: () =>
      installed(async (installation) => {
        const { rookery, file } = installation;
        await rookery.run('down');
        damage(file('data', 'clusters', 'one.db'), file('data', 'clusters', 'two.db'));
        await isSaid(installation);
      }),
  };
}

/** The refusal names the file, or what is in it. */
function lostFile(path: string[], named = path.at(-1) as string): Attack {
  return {
    name: `loses ${path.join('/')}`,
    run: () =>
      installed(async ({ rookery, file }) => {
        await rookery.run('down');
        renameSync(file(...path), file('moved-away'));
        const { code, stderr, stdout } = await up(rookery);
        held(code !== 0, `it started as if nothing were lost: ${stdout}`);
        held(`${stderr}${stdout}`.includes(named), `the refusal does not name ${named}: ${stderr}${stdout}`);
        renameSync(file('moved-away'), file(...path));
        held((await up(rookery)).code === 0, 'it does not start with the file back in its place');
      }),
  };
}

export const damage: Subject = {
  name: 'damage',
  attacks: [
    tenantDamage("deletes a tenant's store", (file) => rmSync(file)),
    tenantDamage("empties a tenant's store", (file) => truncateSync(file, 0)),
    tenantDamage("cuts a tenant's store in half", (file) => truncateSync(file, 8192)),
    tenantDamage("writes over the start of a tenant's store", (file) => {
      const content = readFileSync(file);
      content.fill('x', 0, 4096);
      writeFileSync(file, content);
    }),
    tenantDamage("puts another tenant's store in its place", (file, other) => copyFileSync(other, file)),
    lostFile(['keys.json']),
    lostFile(['pki', 'ca.pem']),
    lostFile(['data', 'root.db'], 'the store of the control plane is missing'),
    {
      name: 'kills the process while writes are acknowledged',
      run: () =>
        installed(async ({ rookery, file, write, has }) => {
          const { pid } = JSON.parse(readFileSync(file('state.json'), 'utf8'));
          const acknowledged: string[] = [];
          const writers = Array.from({ length: 4 }, async (_, lane) => {
            for (let i = 0; i < 200; i++) if (await write('one', `w-${lane}-${i}`)) acknowledged.push(`w-${lane}-${i}`);
          });
          await delay(700);
          process.kill(pid, 'SIGKILL');
          await Promise.all(writers);
          held((await up(rookery)).code === 0, 'it does not start again');
          for (const name of acknowledged) held(await has('one', name), `${name} was acknowledged and is lost`);
          held(acknowledged.length > 0, 'nothing was acknowledged');
        }),
    },
  ],
};
