// A virtual cluster through the real kubectl: what a user of a cluster does in a day, and what they may see.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Cluster } from '../../src/apiserver/index.ts';
import { furnish } from '../../src/provisioners/virtual/simulation/furnish.ts';
import { simulation } from '../../src/provisioners/virtual/simulation/index.ts';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'rookery-virtual-'));
let server: TestServer;
let run: Kubectl;
let cluster: Cluster;

beforeAll(async () => {
  server = await startServer({ loops: [simulation] });
  cluster = await server.clusters.ensure('demo');
  await furnish(cluster, { controlPlanes: 0, nodes: 2 });
  run = kubectl(await server.kubeconfig('demo'), folder);
});

afterAll(async () => {
  const { errors } = server;
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  expect(errors).toEqual([]);
});

async function ok(command: string, stdin?: string): Promise<string> {
  const ran = await run(command, stdin);
  expect(`${ran.code}: ${ran.code ? ran.all : ''}`, `kubectl ${command}`).toBe('0: ');
  return ran.all;
}

async function apply(manifest: string): Promise<void> {
  writeFileSync(join(folder, 'manifest.yaml'), manifest);
  await ok('apply -f manifest.yaml');
}

/** Waits for the output of a command to be as it should. */
async function eventually(command: string, wanted: RegExp): Promise<string> {
  const end = Date.now() + 15_000;
  for (;;) {
    const { all } = await run(command);
    if (wanted.test(all)) return all;
    if (Date.now() > end) throw new Error(`kubectl ${command} never gave ${wanted}:\n${all}`);
  }
}

it('has two nodes that are ready and say what they are', async () => {
  const nodes = await eventually('get nodes --show-labels', /demo-node-1 +Ready /);
  expect(nodes).toMatch(/demo-node-0 +Ready +<none> +\S+ +v1\.35\.8 .*rookery\.dev\/fidelity=simulated/);
  const described = await ok('describe node demo-node-0');
  expect(described).toMatch(/PodCIDR: +10\.244\.0\.0\/24/);
  expect(described).toMatch(/Taints: +<none>/);
});

it('rolls out, updates, undoes, pauses, restarts and scales a Deployment', async () => {
  await ok('create deployment web --image=nginx:1.25 --replicas=3');
  expect(await ok('rollout status deploy/web --timeout=20s')).toContain('successfully rolled out');
  await ok('set image deploy/web nginx=nginx:1.26');
  await ok('rollout status deploy/web --timeout=20s');
  expect(await ok('rollout history deploy/web')).toMatch(/^1 .*\n2 /m);
  await ok('rollout undo deploy/web');
  await ok('rollout status deploy/web --timeout=20s');
  expect(await ok('get deploy web -o jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx:1.25');
  expect(await ok('rollout history deploy/web')).toMatch(/^2 .*\n3 /m);
  await ok('rollout pause deploy/web');
  await ok('set image deploy/web nginx=nginx:1.27');
  await eventually('get deploy web -o yaml', /reason: DeploymentPaused/);
  expect((await ok('get rs -l app=web --no-headers')).split('\n')).toHaveLength(2);
  await ok('rollout resume deploy/web');
  await ok('rollout status deploy/web --timeout=20s');
  await ok('rollout restart deploy/web');
  await ok('rollout status deploy/web --timeout=20s');
  await ok('scale deploy/web --replicas=5');
  await ok('wait --for=jsonpath={.status.availableReplicas}=5 deploy/web --timeout=20s');
  // Events come behind what they comment on.
  const described = await eventually('describe deploy web', /Scaled up replica set web-\w+ from 3 to 5/);
  expect(described).toMatch(/Progressing +True +NewReplicaSetAvailable/);
  const pods = await ok('get pods -l app=web -o wide --no-headers');
  expect(pods).toMatch(/10\.244\.0\.\d+ +demo-node-0/);
  expect(pods).toMatch(/10\.244\.1\.\d+ +demo-node-1/);
});

it('serves a Deployment under a name', async () => {
  await ok('expose deploy/web --port=80');
  await eventually('get endpointslices -l kubernetes.io/service-name=web', /10\.244\.\d\.\d+/);
  expect(await ok('get endpoints web')).toMatch(/:80/);
  await ok('scale deploy/web --replicas=1');
  await eventually('get endpoints web --no-headers', /^Warning.*\nweb +10\.244\.\d\.\d+:80 /);
});

it('runs Jobs to their end, well or badly, and CronJobs on time', async () => {
  await ok('create job good --image=perl -- perl -e 1');
  await ok('wait --for=condition=complete job/good --timeout=20s');
  await apply(`
apiVersion: batch/v1
kind: Job
metadata: { name: bad }
spec:
  backoffLimit: 0
  ttlSecondsAfterFinished: 3600
  template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, command: [sh, -c, exit 3] }] } }
`);
  await ok('wait --for=condition=failed job/bad --timeout=20s');
  expect(await ok('get pods -l job-name=bad -o yaml')).toContain('exitCode: 3');
  await ok("create cronjob tick --image=busybox --schedule='@every 1s'");
  await eventually('get jobs', /tick-\d+ +Complete/);
  await ok('delete cronjob tick');
  await ok('create cronjob later --image=busybox --schedule="0 0 1 1 *"'.replaceAll('"', "'"));
  await ok('create job now --from=cronjob/later');
  await ok('wait --for=condition=complete job/now --timeout=20s');
});

it('keeps order and volumes in a StatefulSet, one pod per node in a DaemonSet', async () => {
  await apply(`
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec: { containers: [{ name: pg, image: "postgres:16" }] }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: a, image: "agent:1" }] }
`);
  await ok('rollout status sts/db --timeout=20s');
  await ok('rollout status ds/agent --timeout=20s');
  expect(await ok('get pvc --no-headers')).toMatch(/data-db-0 +Bound[\s\S]*data-db-1 +Bound/);
  expect(await ok('get ds agent --no-headers')).toMatch(/agent +2 +2 +2 +2 +2/);
  await ok('set image sts/db pg=postgres:17');
  await ok('rollout status sts/db --timeout=20s');
  expect(await ok('get pod db-0 -o jsonpath={.spec.containers[0].image}')).toBe('postgres:17');
  await ok('rollout undo sts/db');
  await ok('rollout status sts/db --timeout=20s');
  expect(await ok('get pod db-1 -o jsonpath={.spec.containers[0].image}')).toBe('postgres:16');
});

it('drains a node, as far as budgets allow', async () => {
  await ok('create pdb db --selector=app=db --min-available=2');
  await eventually('get pdb db -o yaml', /currentHealthy: 2/);
  const refused = await run('drain demo-node-0 --ignore-daemonsets --delete-emptydir-data --force --timeout=1s');
  expect(refused.code).toBe(1);
  expect(refused.all).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
  await ok('delete pdb db');
  await ok('drain demo-node-0 --ignore-daemonsets --delete-emptydir-data --force --timeout=20s');
  await eventually('get pods -l app=db -o wide --no-headers', /db-0 +1\/1.*demo-node-1[\s\S]*db-1 +1\/1.*demo-node-1/);
  expect(await ok('get nodes demo-node-0 --no-headers')).toContain('Ready,SchedulingDisabled');
  await ok('uncordon demo-node-0');
});

it('says why a pod does not run', async () => {
  await ok(
    'run huge --image=nginx --overrides={"spec":{"containers":[{"name":"huge","image":"nginx","resources":{"requests":{"cpu":"100"}}}]}}',
  );
  const pending = await eventually('describe pod huge', /FailedScheduling/);
  expect(pending).toContain('0/2 nodes are available: 2 Insufficient cpu.');
  await ok('run picky --image=nginx --overrides={"spec":{"nodeSelector":{"disk":"ssd"}}}');
  await eventually('describe pod picky', /2 node\(s\) didn't match Pod's node affinity\/selector/);
  await ok('label node demo-node-1 disk=ssd');
  await ok('wait --for=condition=Ready pod/picky --timeout=20s');
  await ok('run typo --image=nginx:nonexistent');
  await eventually('get pod typo --no-headers', /ImagePullBackOff/);
  await ok('run crash --image=busybox -- false');
  await eventually('get pod crash --no-headers', /CrashLoopBackOff/);
});

it('answers logs, exec and port-forward with a sentence', async () => {
  const sentence = "this cluster's nodes are simulated and run none";
  expect((await run('logs picky')).all).toContain(sentence);
  expect((await run('exec picky -- ls')).all).toContain(sentence);
  expect((await run('attach picky')).all).toContain(sentence);
  expect((await run('port-forward pod/picky 0:80')).code).not.toBe(0);
});

it('moves pods away from a node that fails or is deleted', async () => {
  await ok('create deployment mover --image=nginx --replicas=4');
  await ok('rollout status deploy/mover --timeout=20s');
  await ok('taint node demo-node-1 broken=yes:NoExecute');
  await eventually('get pods -l app=mover -o wide --no-headers', /^(mover\S+ +1\/1.*demo-node-0.*\n?){4}$/);
  await ok('taint node demo-node-1 broken-');
  await ok('delete node demo-node-0');
  await eventually('get pods -l app=mover -o wide --no-headers', /^(mover\S+ +1\/1.*demo-node-1.*\n?){4}$/);
  expect(await ok('get nodes --no-headers')).not.toContain('demo-node-0');
});

it('counts quotas and gives room back', async () => {
  await ok('create namespace small');
  await ok('create quota q --hard=pods=2 -n small');
  await ok('create deployment many --image=nginx --replicas=3 -n small');
  await eventually('get deploy many -n small -o yaml', /exceeded quota: q/);
  await eventually('describe quota q -n small', /pods +2 +2/);
  await ok('scale deploy many --replicas=0 -n small');
  await eventually('describe quota q -n small', /pods +0 +2/);
  await ok('delete namespace small --timeout=20s');
});
