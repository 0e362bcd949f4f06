// Rookery's k3s provisioner on real k3s: the suite every provisioner passes, on a machine with systemd over SSH; the product as root on a machine
// without systemd, where Rookery itself runs on the machine; and Rookery killed again and again. What was there before is written down, and
// compared at the end.
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { HostFolders } from '../../src/machines/host-folders.ts';
import { K3sProvisioner } from '../../src/provisioners/k3s/k3s-provisioner.ts';
import { systemProcesses } from '../../src/tools/processes.ts';
import { scratch } from '../bed/cache.ts';
import { program } from '../bed/environment.ts';
import { waitFor } from '../bed/process.ts';
import { k3sVersion } from '../bed/versions.ts';
import { provisionerConformance } from '../conformance/provisioner/provisioner.ts';
import { type Engine, engine } from './support/engine.ts';
import { containerSpec, imagesPath, type K3sMachine, k3sMachine, sshKey } from './support/k3s-machine.ts';
import { killPoints } from './support/kill-points.ts';
import { Traces } from './support/machine-traces.ts';
import { pod } from './support/workload.ts';

const prefix = `rk3s${process.pid}-`;
const image = `rancher/k3s:${k3sVersion.replace('+', '-')}`;

provisionerConformance('k3s over SSH, by systemd', async () => {
  const docker = await engine('k3s-image');
  await docker.clear(prefix);
  const folder = scratch('provisioner-k3s');
  mkdirSync(folder, { recursive: true });
  const key = await sshKey(folder);
  const machine = await k3sMachine(docker, `${prefix}host`, { init: 'systemd', publicKey: key.publicKey });
  const traces = await Traces.of(machine);
  // Brought from here, for the machine's own is not looked for when there is one here.
  const env = { ...docker.env, PATH: `${dirname(program('k3s', 'k3s'))}:${docker.env.PATH}` };
  const owner = '/var/lib/rookery/k3s/owner.json';
  return {
    prefix,
    access: { sshKey: key.privateKey },
    hasOneAddress: true,
    servesApi: true,
    open: () =>
      new K3sProvisioner({
        processes: systemProcesses(env),
        clock: systemClock,
        folder: `${folder}/clusters`,
        folders: new HostFolders(['/']),
      }),
    spec: () => ({
      host: {
        ssh: { address: machine.address, port: 22, user: 'root', keySecretRef: { name: 'key', key: 'ssh-privatekey' } },
      },
      port: 6443,
      supervision: 'auto' as const,
      airgapImages: [imagesPath],
      ...containerSpec,
    }),
    // As the death of the machine would: what runs in the background, and k3s itself.
    killTools: async () => {
      const kill =
        'for run in /var/lib/rookery/k3s/run/pid; do [ -f $run ] && kill -9 -- -$(cat $run); done; pkill -9 -x k3s';
      await machine.sh(`${kill}; pkill -9 -f '^/var/lib/rookery/k3s/bin/k3s'; true`);
    },
    foreign: async () => {
      await machine.sh(`mkdir -p /var/lib/rookery/k3s && echo '{"id":"theirs","name":"x","dataDir":"/x"}' >${owner}`);
      return async () => void (await machine.sh('rm -rf /var/lib/rookery'));
    },
    namespacesFromInside: (_ref, kubeconfig) => {
      const run = [
        'run',
        '--rm',
        '--name',
        `${prefix}inside`,
        '--env',
        `CONFIG=${kubeconfig}`,
        '--entrypoint',
        '/bin/sh',
      ];
      const ask = 'echo "$CONFIG" >/tmp/config && exec kubectl --kubeconfig /tmp/config get namespaces -o name';
      return docker.docker(...run, image, '-c', ask);
    },
    leftovers: () => traces.left(),
    close: async () => {
      await docker.clear(prefix);
      await docker.release();
      rmSync(folder, { recursive: true, force: true });
    },
    patienceMs: 200_000,
    callMs: 30_000,
    killPoints: killPoints(2500, 9000),
  };
});

describe('K3sCluster on the machine Rookery runs on, without systemd', () => {
  const name = `${prefix}local`;
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const home = '/root/rookery';
  let docker: Engine;
  let machine: K3sMachine;
  let traces: Traces;

  const rookery = `/usr/local/bin/node ${root}dist/main.js --home ${home}`;
  const kubectl = (command: string): Promise<string> =>
    machine.sh(`kubectl --kubeconfig ${home}/kubeconfig ${command}`);
  const inside = (command: string): Promise<string> => machine.sh(`kubectl --kubeconfig /tmp/cluster ${command}`);
  const apply = (use: (command: string) => Promise<string>, object: object): Promise<string> =>
    use(`apply -f - <<'END'\n${JSON.stringify(object)}\nEND`);
  const up = async (): Promise<void> => {
    const folders = 'ROOKERY_HOST_FOLDERS=/var/lib';
    const start = `cd ${root} && exec env ${folders} ${rookery} up --no-demo --port 0 >>/var/log/rookery.log 2>&1`;
    await docker.docker('exec', '-d', name, '/bin/sh', '-c', start);
    await waitFor('the control plane', 90_000, () => kubectl('get --raw /readyz'), 500);
  };
  const crash = (): Promise<string> => machine.sh("pkill -9 -f 'dist/main.js --home'");
  const cluster = (name: string, spec: object = {}): object => ({
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'K3sCluster',
    metadata: { name, namespace: 'default' },
    spec: { kubernetesVersion: '1.35', airgapImages: [imagesPath], ...containerSpec, ...spec },
  });
  const status = async (name: string): Promise<{ ready?: boolean; failureMessage?: string }> =>
    JSON.parse(await kubectl(`get k3scluster ${name} -o json`)).status ?? {};
  const isReady = async (name: string): Promise<void> => {
    await waitFor(
      `${name} to be ready`,
      200_000,
      async () => {
        const now = await status(name);
        if (!now.ready) throw new Error(JSON.stringify(now));
        return true;
      },
      1000,
    );
  };
  const fails = async (name: string, reason: string): Promise<string> =>
    await waitFor(`${name} to be refused`, 60_000, async () => {
      const { failureMessage = '' } = await status(name);
      if (!failureMessage.startsWith(`${reason}: `)) throw new Error(failureMessage);
      return failureMessage;
    });
  const server = async (): Promise<string> =>
    (await machine.sh("pgrep -f '^/var/lib/rookery/k3s/bin/k3s server'")).trim();

  beforeAll(async () => {
    docker = await engine('k3s-image');
    await docker.clear(name);
    const mounts = [`${root}:${root}:ro`, `${process.execPath}:/usr/local/bin/node:ro`];
    machine = await k3sMachine(docker, name, { init: 'none', mounts });
    traces = await Traces.of(machine);
    await up();
  });
  afterAll(async () => {
    await docker?.clear(name);
    await docker?.release();
  });

  test('a machine with a kubelet of another cluster is refused, and left alone', async () => {
    await machine.sh('echo kind: KubeletConfiguration >/var/lib/kubelet/config.yaml');
    await apply(kubectl, cluster('node'));
    expect(await fails('node', 'HostInUse')).toContain('/var/lib/kubelet/config.yaml');
    await kubectl('delete k3scluster node --timeout=60s');
    await machine.sh('rm /var/lib/kubelet/config.yaml');
    expect(await traces.left()).toEqual([]);
  });

  test('a machine that cannot be reached says why, and its object can be deleted', async () => {
    const ssh = { address: '127.0.0.1', port: 9, keySecretRef: { name: 'far-key' } };
    await apply(kubectl, cluster('far', { host: { ssh } }));
    expect(await fails('far', 'HostKeyMissing')).toContain('the Secret far-key has no entry ssh-privatekey');
    await machine.sh('ssh-keygen -q -t ed25519 -N "" -f /tmp/far');
    await kubectl('create secret generic far-key --type=kubernetes.io/ssh-auth --from-file=ssh-privatekey=/tmp/far');
    await kubectl('annotate k3scluster far look=now');
    expect(await fails('far', 'HostConnectionRefused')).toContain('nothing listens');
    await kubectl('delete k3scluster far --timeout=60s');
  });

  test('the object becomes a cluster, though Rookery is killed while it is made', async () => {
    await apply(kubectl, cluster('dev'));
    await waitFor('the claim', 60_000, () => machine.sh('cat /var/lib/rookery/k3s/owner.json'), 100);
    await crash();
    await up();
    await isReady('dev');
    await kubectl(`get secret dev-kubeconfig -o jsonpath='{.data.value}' | base64 -d >/tmp/cluster`);
    await apply(inside, pod('hello'));
    await inside('wait --for=condition=Ready pod/hello --timeout=120s');
    expect(await inside('exec hello -- hostname')).toBe('hello\n');
  });

  test('a second object for the same machine is refused', async () => {
    await apply(kubectl, cluster('rival'));
    await fails('rival', 'NameTaken');
    await kubectl('delete k3scluster rival --timeout=60s');
  });

  test('k3s is started again when it dies, also with its supervisor, and the pod has not noticed', async () => {
    const first = await server();
    await machine.sh(`kill -9 ${first}`);
    const second = await waitFor('another k3s', 60_000, async () => {
      const now = await server();
      if (now === first) throw new Error('still the first');
      return now;
    });
    await machine.sh(`kill -9 $(cat /var/lib/rookery/k3s/supervisor.pid) ${second}`);
    await waitFor('a third k3s', 90_000, server);
    await isReady('dev');
    await waitFor('the API', 60_000, () => inside('get --raw /readyz'));
    expect(await inside('get pod hello -o jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');
  });

  test('deleting it leaves nothing, though Rookery is killed in the middle', async () => {
    await kubectl('delete k3scluster dev --wait=false');
    await waitFor('the removal', 60_000, () => machine.sh('grep remove /var/lib/rookery/k3s/run/run.json'), 100);
    await crash();
    await up();
    await kubectl('wait --for=delete k3scluster/dev --timeout=120s');
    expect(await traces.left()).toEqual([]);
    expect(await kubectl('get events -o jsonpath={.items[*].message}')).toContain('data /var/lib/k3s-data/k3s');
  });
});
