/** From an object in a namespace to the machine below it: programs, files, mounts, ports and other machines. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, held, NotHeld, refused, type Subject } from '../attack.ts';
import { NAMESPACE, named, type Scene } from '../scene.ts';

const INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const PLACE = `/apis/${INFRASTRUCTURE}/namespaces/${NAMESPACE}`;

/** Neither the role of tenants nor the right to write the kind is a permission for the host. */
function orders(name: string, kind: string, plural: string, spec: object): Attack {
  return {
    name,
    run: async ({ tenant, builder, root }) => {
      for (const { http } of [tenant, builder]) {
        const answer = await http.post(`${PLACE}/${plural}`, { ...named(INFRASTRUCTURE, kind, 'evil'), spec });
        if (answer.status < 300) await root.http.delete(`${PLACE}/${plural}/evil`);
        refused(answer, 403, 422);
      }
    },
  };
}

const kind = (name: string, spec: object) =>
  orders(`orders a KINDCluster ${name}`, 'KINDCluster', 'kindclusters', { clusterName: 'evil', ...spec });
const k3d = (name: string, spec: object) =>
  orders(`orders a K3dCluster ${name}`, 'K3dCluster', 'k3dclusters', { clusterName: 'evil', ...spec });
const k3s = (name: string, spec: object) => orders(`orders a K3sCluster ${name}`, 'K3sCluster', 'k3sclusters', spec);

/** A program that says that it ran, and where it says so. */
async function watched(scene: Scene, act: (program: string) => Promise<void>): Promise<void> {
  const mark = join(tmpdir(), `rookery-attack-${scene.pid()}`);
  const program = `${mark}.sh`;
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  try {
    await act(program);
    await delay(1_000);
    held(!existsSync(mark), 'the program ran');
  } finally {
    for (const file of [mark, program]) rmSync(file, { force: true });
  }
}

export const host: Subject = {
  name: 'the host',
  attacks: [
    {
      name: 'has a program of its own run as k3s',
      run: (scene) =>
        watched(scene, async (binary) => {
          const body = { ...named(INFRASTRUCTURE, 'K3sCluster', 'runs'), spec: { host: { local: true }, binary } };
          const answer = await scene.builder.http.post(`${PLACE}/k3sclusters`, body);
          if (answer.status < 300) {
            await delay(3_000);
            await scene.root.http.delete(`${PLACE}/k3sclusters/runs`);
            throw new NotHeld(`answered ${answer.status}`);
          }
        }),
    },
    k3s('on this machine', { host: { local: true } }),
    k3s('on the machine that is meant when none is named', {}),
    k3s('on a machine over SSH', { host: { ssh: { address: '127.0.0.1', keySecretRef: { name: 'x' } } } }),
    k3s('with a file of the host as image archive', { airgapImages: ['/etc/shadow'] }),
    k3s('with a flag that names a file', { k3sArgs: ['--kubelet-arg=config=/etc/shadow'] }),
    kind('without anything special', {}),
    kind('with the root folder mounted', {
      nodes: [{ role: 'control-plane', extraMounts: [{ hostPath: '/', containerPath: '/host' }] }],
    }),
    kind('with the Docker socket mounted', {
      nodes: [
        { role: 'control-plane', extraMounts: [{ hostPath: '/var/run/docker.sock', containerPath: '/docker.sock' }] },
      ],
    }),
    kind('with port 22 of the host', {
      nodes: [{ role: 'control-plane', extraPortMappings: [{ containerPort: 22, hostPort: 22 }] }],
    }),
    kind('with an API for every address', { networking: { apiServerAddress: '0.0.0.0' } }),
    kind('with an image that is an option of docker', { image: '--privileged' }),
    kind('with a patch of kubeadm that mounts the host', {
      kubeadmConfigPatches: [
        'kind: ClusterConfiguration\napiServer:\n  extraVolumes:\n  - name: host\n    hostPath: /\n    mountPath: /host\n',
      ],
    }),
    k3d('without anything special', {}),
    k3d('with a volume of the host', { volumes: [{ hostPath: '/', containerPath: '/host' }] }),
    {
      name: 'orders a Cluster whose infrastructure is a kind it may not order',
      run: async ({ tenant, root }) => {
        const path = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/clusters`;
        const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'KINDCluster', name: 'evil' };
        await tenant.http.post(path, {
          ...named('cluster.x-k8s.io/v1beta2', 'Cluster', 'evil'),
          spec: { infrastructureRef: ref, controlPlaneRef: ref },
        });
        await delay(500);
        const made = await root.http.get(`${PLACE}/kindclusters/evil`);
        await root.http.delete(`${path}/evil`);
        refused(made, 404);
      },
    },
  ],
};
