// What users made in one cluster, copied to another: all of it, nothing of the system's, twice as well as once, the source untouched.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { Rookery } from '../harness/rookery.ts';

interface Item {
  kind: string;
  namespace?: string;
  name: string;
  note?: string;
}
interface Report {
  moved: Item[];
  left: Item[];
  failed: Item[];
}

const rookery = new Rookery({ PATH: '/usr/bin:/bin', DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
let source: Kubectl;
let target: Kubectl;
const at = (name: string) =>
  kubectl(join(rookery.home, 'clusters', `${name}.kubeconfig`), join(rookery.home, 'kubectl'));
const names = (items: Item[]) =>
  items.map(({ kind, namespace, name }) => [kind, namespace, name].filter(Boolean).join(' '));

const MANIFESTS = `
apiVersion: v1
kind: Namespace
metadata: { name: team, labels: { owner: us } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: eggs.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: eggs, singular: egg, kind: Egg }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } } }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: worker, namespace: team }
---
apiVersion: v1
kind: Secret
metadata: { name: password, namespace: team }
stringData: { word: hush }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: team }
data: { a: b }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: egg-reader }
rules: [{ apiGroups: [example.com], resources: [eggs], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: egg-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: egg-reader }
subjects: [{ kind: ServiceAccount, name: worker, namespace: team }]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data, namespace: team }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: team }
spec: { type: NodePort, selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: team }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { serviceAccountName: worker, containers: [{ name: c, image: nginx }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: team }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: bare, namespace: team }
spec: { containers: [{ name: c, image: nginx }] }
`;

beforeAll(async () => {
  expect(await rookery.run('up', '--detach', '--no-demo')).toMatchObject({ code: 0 });
  for (const name of ['from', 'to']) expect(await rookery.run('cluster', 'create', name)).toMatchObject({ code: 0 });
  source = at('from');
  target = at('to');
  const file = join(rookery.home, 'all.yaml');
  writeFileSync(file, MANIFESTS);
  expect(await source(`apply -f ${file}`)).toMatchObject({ code: 0 });
  expect(await source('wait --for condition=Established crd/eggs.example.com')).toMatchObject({ code: 0 });
  const egg = join(rookery.home, 'egg.yaml');
  writeFileSync(
    egg,
    'apiVersion: example.com/v1\nkind: Egg\nmetadata: { name: blue, namespace: team }\nspec: { size: 3 }\n',
  );
  expect(await source(`apply -f ${egg}`)).toMatchObject({ code: 0 });
  expect(await source('rollout status -n team deployment/web --timeout 60s')).toMatchObject({ code: 0 });
});
afterAll(() => rookery.close());

it('says what would go and changes nothing', async () => {
  const plan = await rookery.json<{ plan: Item[] }>('cluster', 'promote', 'from', '--to', 'to', '--dry-run');
  expect(names(plan.plan)).toContain('Deployment team web');
  expect((await target('get namespace team')).code).not.toBe(0);
  const { stdout } = await rookery.run('cluster', 'promote', 'from', '--to', 'kind', '--dry-run');
  expect(stdout).toContain('would go from from to from-kind');
});

it('copies what users made, in an order that works, and reports the rest', async () => {
  const before = (await source('get all,cm,secrets,sa,pvc,eggs -A -o yaml')).out;
  const report = await rookery.json<Report>('cluster', 'promote', 'from', '--to', 'to');
  expect(report.failed).toEqual([]);
  const moved = names(report.moved);
  for (const name of [
    'Namespace team',
    'CustomResourceDefinition eggs.example.com',
    'ServiceAccount team worker',
    'Secret team password',
    'ConfigMap team settings',
    'ClusterRole egg-reader',
    'ClusterRoleBinding egg-reader',
    'PersistentVolumeClaim team data',
    'Egg team blue',
    'Service team web',
    'Deployment team web',
    'Pod team bare',
  ]) {
    expect(moved).toContain(name);
  }
  expect(moved.filter((name) => /kube-|ReplicaSet|Pod team web|ServiceAccount .* default/.test(name))).toEqual([]);
  expect(report.moved.find((item) => item.kind === 'PersistentVolumeClaim')?.note).toContain('data is not copied');
  expect(await target('rollout status -n team deployment/web --timeout 60s')).toMatchObject({ code: 0 });
  expect((await target('get egg -n team blue -o jsonpath={.spec.size}')).out).toBe('3');
  expect((await target('get secret -n team password -o jsonpath={.data.word}')).out).toBe('aHVzaA==');
  expect((await target('get namespace team -o jsonpath={.metadata.labels.owner}')).out).toBe('us');
  const address = (k: Kubectl) => k('get service -n team web -o jsonpath={.spec.clusterIP}');
  expect((await address(target)).out).toMatch(/^\d+\./);
  expect((await source('get all,cm,secrets,sa,pvc,eggs -A -o yaml')).out).toBe(before);
});

it('twice is as good as once', async () => {
  const uid = () => target('get deployment -n team web -o jsonpath={.metadata.uid}/{.metadata.generation}');
  const before = (await uid()).out;
  const report = await rookery.json<Report>('cluster', 'promote', 'from', '--to', 'to');
  expect(report.failed).toEqual([]);
  expect((await uid()).out).toBe(before);
});

it('makes the cluster it goes to, and takes only the namespaces that are named', async () => {
  await source('create namespace other');
  const args = ['cluster', 'promote', 'from', '--to', 'virtual', '--as', 'made', '--include-namespace', 'other'];
  const report = await rookery.json<Report>(...args);
  expect(names(report.moved)).toContain('Namespace other');
  expect(names(report.moved).filter((name) => name.includes('team'))).toEqual([]);
  expect(await at('made')('get namespace other -o name')).toMatchObject({ out: 'namespace/other\n' });
  // Again: the cluster that was made is found, not made again.
  expect(await rookery.run(...args)).toMatchObject({ code: 0 });
});

it('reports what the target refuses, and lets the rest go', async () => {
  await target('create namespace full');
  await source('create namespace full');
  await target('create quota -n full none --hard=configmaps=1');
  await source('create configmap -n full too-much');
  const { code, stdout } = await rookery.run('cluster', 'promote', 'from', '--to', 'to', '-o', 'json');
  expect(code).toBe(1);
  const report = JSON.parse(stdout) as Report;
  expect(names(report.failed)).toEqual(['ConfigMap full too-much']);
  expect(report.failed[0]?.note).toContain('exceeded quota');
  expect(names(report.moved)).toContain('Deployment team web');
});
