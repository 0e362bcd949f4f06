/**
 * One long session with the real kubectl, in order, every command checked against what a real kube-apiserver answers.
 * The same file passes there too (`kube-controller-manager` beside it for the last part):
 *   SESSION_KUBECONFIG=… npx vitest run --project integration test/integration/kubectl-session.test.ts
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kubectl, kubectl, type Ran } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const REAL = process.env.SESSION_KUBECONFIG;
let server: TestServer | undefined;
let k: Kubectl;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-session-'));
  server = REAL ? undefined : await startServer();
  k = kubectl(REAL ?? ((await server?.kubeconfig()) as string), folder);
});
afterAll(async () => {
  await server?.close();
  rmSync(k.folder, { recursive: true });
});

type Expected = string | RegExp | ((text: string) => void);
/** What a command is expected to print, and the code it ends with. */
type Step = [command: string, prints: Expected, code?: number, stdin?: string];

async function steps(...all: Step[]): Promise<void> {
  for (const [command, prints, code = 0, stdin] of all) check(command, await k(command, stdin), prints, code);
  expect(server?.errors ?? []).toEqual([]);
}

function check(command: string, ran: Ran, prints: Expected, code: number): void {
  const said = `kubectl ${command}`;
  expect(`${said} → ${ran.code}\n${ran.code === code ? '' : ran.all}`).toBe(`${said} → ${code}\n`);
  // Newer kubectls say where they deleted, and that flags have got new names.
  const text = ran.all.replace(/ from demo namespace/g, '').replace(/^Flag --\S+ has been deprecated.*\n/, '');
  if (typeof prints === 'string') expect(text, said).toBe(prints);
  else if (prints instanceof RegExp) expect(text, said).toMatch(prints);
  else prints(text);
}

const fails = (command: string, prints: Expected, stdin?: string): Step => [command, prints, 1, stdin];
const from = (stdin: string, command: string, prints: Expected, code = 0): Step => [command, prints, code, stdin];
const has =
  (...parts: string[]) =>
  (text: string) => {
    for (const part of parts) expect(text).toContain(part);
  };
/** Table rows with single spaces. */
const rows = (text: string) => text.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '));
const table =
  (...expected: string[]) =>
  (text: string) =>
    expect(rows(text).map((row) => row.replace(/ {2}\d+(s|m\d*s?)$/, '  AGE'))).toEqual(expected);
const file = (name: string, text: string) => writeFileSync(join(k.folder, name), text);

it('asks what there is', async () => {
  await steps(
    ['version', /^Client Version: v1\.\d+\.\d+[\s\S]*Server Version: v1\.35\./],
    ['api-versions', has('v1\n', 'apps/v1\n', 'apiextensions.k8s.io/v1\n', 'rbac.authorization.k8s.io/v1\n')],
    ['api-resources --no-headers', has('configmaps', 'deployments', 'customresourcedefinitions', 'leases')],
    ['api-resources --namespaced=false -o name', has('namespaces\n', 'nodes\n', 'clusterroles.rbac')],
    [
      'api-resources --api-group=apps -o wide',
      /deployments +deploy +apps\/v1 +true +Deployment +create,delete,deletecollection,get,list,patch,update,watch +all/,
    ],
    ['explain pod.spec.containers.image', has('KIND:       Pod', 'VERSION:    v1', 'FIELD: image <string>')],
    ['explain deployment.spec.strategy --recursive', has('FIELD: strategy <DeploymentStrategy>', 'maxSurge')],
    fails('explain nosuch', 'the server doesn\'t have a resource type "nosuch"'),
    fails('explain pod.spec.nosuch', /error: field "nosuch" does not exist$/),
    ['cluster-info', /Kubernetes control plane is running at https:\/\/127\.0\.0\.1:\d+/],
    ['config view --minify -o jsonpath={.contexts[0].name}', /^\w+$/],
    ['get --raw /readyz', 'ok'],
    fails('get --raw /nosuch', 'Error from server (NotFound): the server could not find the requested resource'),
    ['auth whoami', has('system:masters', 'system:authenticated')],
    ['auth can-i create pods', 'yes'],
  );
});

it('creates with every generator', async () => {
  file('file.txt', 'hello\n');
  for (const name of ['cert', 'jane']) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
    const kind = name === 'cert' ? ['-x509', '-days', '2'] : [];
    execFileSync('openssl', ['req', '-new', ...kind, ...key, '-out', `${name}.pem`, '-subj', `/CN=${name}/O=dev`], {
      cwd: k.folder,
      stdio: 'ignore',
    });
  }
  await steps(
    ['create ns demo', 'namespace/demo created'],
    fails('create ns demo', 'Error from server (AlreadyExists): namespaces "demo" already exists'),
    fails('create ns Bad_Name', /The Namespace "Bad_Name" is invalid: metadata.name: Invalid value/),
    ['wait --for=jsonpath={.status.phase}=Active ns/demo --timeout=20s', 'namespace/demo condition met'],
    ['wait --for=create sa/default -n demo --timeout=20s', 'serviceaccount/default condition met'],
    ['config set-context --current --namespace=demo', /modified/],
  );
  await steps(
    ['create deployment web --image=nginx:1.27 --replicas=2 --port=80', 'deployment.apps/web created'],
    ['create configmap settings --from-literal=a=1 --from-literal=b=2', 'configmap/settings created'],
    ['create configmap files --from-file=file.txt', 'configmap/files created'],
    ['create secret generic creds --from-literal=password=hunter2', 'secret/creds created'],
    [
      'create secret docker-registry pull --docker-server=r.example --docker-username=u --docker-password=p',
      'secret/pull created',
    ],
    ['create secret tls cert --cert=cert.pem --key=cert.key', 'secret/cert created'],
    ['create sa robot', 'serviceaccount/robot created'],
    [
      'create role reader --verb=get,list,watch --resource=pods,configmaps',
      'role.rbac.authorization.k8s.io/reader created',
    ],
    [
      'create rolebinding robot-reads --role=reader --serviceaccount=demo:robot',
      'rolebinding.rbac.authorization.k8s.io/robot-reads created',
    ],
    [
      'create clusterrole node-reader --verb=get,list --resource=nodes',
      'clusterrole.rbac.authorization.k8s.io/node-reader created',
    ],
    [
      'create clusterrolebinding robot-nodes --clusterrole=node-reader --serviceaccount=demo:robot',
      'clusterrolebinding.rbac.authorization.k8s.io/robot-nodes created',
    ],
    ['create job once --image=busybox -- date', 'job.batch/once created'],
    ["create cronjob nightly --image=busybox --schedule='0 3 * * *' -- date", 'cronjob.batch/nightly created'],
    fails(
      'create cronjob bad --image=busybox --schedule=nope -- date',
      'error: failed to create cronjob: CronJob.batch "bad" is invalid: spec.schedule: Invalid value: "nope": ' +
        'expected exactly 5 fields, found 1: [nope]',
    ),
    ['create job manual --from=cronjob/nightly', 'job.batch/manual created'],
    ['create service clusterip web --tcp=80:8080', 'service/web created'],
    ['create service nodeport np --tcp=80:8080', 'service/np created'],
    ['create service externalname ext --external-name=example.com', 'service/ext created'],
    ['create service loadbalancer lb --tcp=80:8080', 'service/lb created'],
    ['expose deployment web --name=exposed --port=80', 'service/exposed exposed'],
    ["create ingress site --rule='example.com/*=web:80,tls=cert'", 'ingress.networking.k8s.io/site created'],
    ['create quota small --hard=pods=10,configmaps=20', 'resourcequota/small created'],
    ['create priorityclass high --value=1000 --description=high', 'priorityclass.scheduling.k8s.io/high created'],
    ['create pdb web --selector=app=web --min-available=1', 'poddisruptionbudget.policy/web created'],
    ['create token robot --duration=10m', /^[\w-]+\.[\w-]+\.[\w-]+$/],
    ['run solo --image=busybox --restart=Never', 'pod/solo created'],
  );
});

it('gets in every form', async () => {
  await steps(
    [
      'get all',
      has('pod/solo', '0/1     Pending   0', 'service/np', 'deployment.apps/web   0/2', 'cronjob.batch/nightly'),
    ],
    [
      'get pods -o wide',
      /NOMINATED NODE +READINESS GATES\nsolo +0\/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>/,
    ],
    ['get deploy web -o wide', /CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 +0 +0 +\d+s +nginx +nginx:1\.27 +app=web/],
    [
      'get deploy web -o yaml',
      has('apiVersion: apps/v1\n', '  progressDeadlineSeconds: 600\n', '      dnsPolicy: ClusterFirst'),
    ],
    [
      'get svc web -o json',
      (text) => expect(JSON.parse(text).spec).toMatchObject({ type: 'ClusterIP', ipFamilies: ['IPv4'] }),
    ],
    ['get deploy web -o jsonpath={.spec.template.spec.containers[0].image}', 'nginx:1.27'],
    ['get cm -o name', 'configmap/files\nconfigmap/kube-root-ca.crt\nconfigmap/settings'],
    ['get cm settings -o custom-columns=NAME:.metadata.name,KEYS:.data', table('NAME  KEYS', 'settings  map[a:1 b:2]')],
    ['get cm settings -o go-template={{.data.a}}', '1'],
    [
      'get cm --sort-by=.metadata.name',
      table('NAME  DATA  AGE', 'files  1  AGE', 'kube-root-ca.crt  1  AGE', 'settings  2  AGE'),
    ],
    ['get cm --chunk-size=1 -o name', 'configmap/files\nconfigmap/kube-root-ca.crt\nconfigmap/settings'],
    ['get secrets --field-selector type=kubernetes.io/tls -o name', 'secret/cert'],
    ['get pods --field-selector status.phase=Pending -o name', 'pod/solo'],
    ['get pods --field-selector status.phase=Running', 'No resources found in demo namespace.'],
    fails(
      'get pods --field-selector spec.nosuch=1',
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field ' +
        'selector "spec.nosuch=1": field label not supported: spec.nosuch',
    ),
    ["get deploy -l 'app in (web,other)' -L app --no-headers", /^web +0\/2 +0 +0 +\d+s +web$/],
    ['get deploy -l app!=web', 'No resources found in demo namespace.'],
    fails(
      "get deploy -l 'app in ('",
      'Error from server (BadRequest): Unable to find "apps/v1, Resource=deployments" that match label selector ' +
        `"app in (", field selector "": unable to parse requirement: found '', expected: ',', ')' or identifier`,
    ),
    ['get cm -A --field-selector metadata.name=settings --no-headers', /^demo +settings +2 +\d+s$/],
    fails('get cm nosuch', 'Error from server (NotFound): configmaps "nosuch" not found'),
    fails('get nosuch', 'error: the server doesn\'t have a resource type "nosuch"'),
    fails(
      'get cm settings nosuch -o name',
      'configmap/settings\nError from server (NotFound): configmaps "nosuch" not found',
    ),
    ['get cm nosuch --ignore-not-found', ''],
    ['get endpoints', /^Warning: v1 Endpoints is deprecated in v1\.33\+; use discovery\.k8s\.io\/v1 EndpointSlice/],
  );
});

it('describes', async () => {
  await steps(
    [
      'describe pod solo',
      has(
        'Status:           Pending',
        '/var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-',
        'QoS Class:                   BestEffort',
      ),
    ],
    ['describe deploy web', has('StrategyType:           RollingUpdate', '25% max unavailable, 25% max surge')],
    ['describe svc web', /Type: +ClusterIP[\s\S]*TargetPort: +8080\/TCP[\s\S]*Session Affinity: +None/],
    ['describe ns demo', /Status: +Active[\s\S]*Resource Quotas[\s\S]*configmaps +3 +20\n +pods +1 +10/],
    ['describe secret creds', has('password:  7 bytes')],
    ['describe ingress site', /cert terminates example\.com[\s\S]*web:80/],
    ['describe cronjob nightly', /Schedule: +0 3 \* \* \*[\s\S]*Concurrency Policy: +Allow/],
    ['describe quota small', /pods +1 +10/],
    ['get csr', 'No resources found'],
    ['events', 'No events found in demo namespace.'],
  );
});

const MANIFEST = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: applied
  labels: {team: red}
data:
  color: red
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: api, image: "api:1", ports: [{containerPort: 80}], env: [{name: A, value: "1"}]}
`;
const both = (word: string) => `configmap/applied ${word}\ndeployment.apps/api ${word}`;
const versions = async () =>
  (await k('get cm/applied deploy/api -o jsonpath={.items[*].metadata.resourceVersion}')).out;

it('applies: created, unchanged, configured; diff tells before', async () => {
  file('web.yaml', MANIFEST);
  await steps(
    fails(
      'diff -f web.yaml',
      has('+  color: red', '+  name: api', '+  terminationGracePeriodSeconds: 30'.replace('  t', '      t')),
    ),
    ['apply -f web.yaml', both('created')],
  );
  const before = await versions();
  await steps(['apply -f web.yaml', both('unchanged')], ['diff -f web.yaml', '']);
  expect(await versions(), 'an apply without a change writes nothing').toBe(before);

  file('web.yaml', MANIFEST.replace('color: red', 'color: blue').replace('api:1', 'api:2'));
  await steps(
    fails('diff -f web.yaml', (text) => {
      const changed = text.split('\n').filter((line) => /^[-+] /.test(line));
      expect(changed.map((line) => line.replace(/ +/g, ' '))).toEqual([
        '- generation: 1',
        '+ generation: 2',
        '- image: api:1',
        '+ image: api:2',
        '- color: red',
        '+ color: blue',
      ]);
    }),
    ['apply -f web.yaml --dry-run=server', both('configured (server dry run)')],
  );
  expect(await versions(), 'a dry run leaves no trace').toBe(before);
  await steps(
    ['apply -f web.yaml', both('configured')],
    ['get cm applied -o jsonpath={.data.color}', 'blue'],
    ['apply view-last-applied cm/applied', has('color: blue')],
  );
});

it('applies on the server: conflicts, force, co-ownership', async () => {
  file('green.yaml', MANIFEST.replace('color: red', 'color: green').replace('api:1', 'api:2'));
  await steps(
    ['apply --server-side -f web.yaml', both('serverside-applied')],
    fails(
      'apply --server-side -f green.yaml --field-manager=other',
      has(
        'deployment.apps/api serverside-applied',
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.color',
      ),
    ),
    ['apply --server-side -f green.yaml --field-manager=other --force-conflicts', both('serverside-applied')],
    ['get cm applied -o jsonpath={.data.color}', 'green'],
    [
      'get cm applied --show-managed-fields -o jsonpath=\'{range .metadata.managedFields[*]}{.manager} {.operation} {.fieldsV1}{"\\n"}{end}\'',
      [
        'kubectl Apply {"f:metadata":{"f:labels":{"f:team":{}}}}',
        'kubectl-last-applied Apply {"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}',
        'other Apply {"f:data":{"f:color":{}},"f:metadata":{"f:labels":{"f:team":{}}}}',
      ].join('\n'),
    ],
  );
});

it('replaces as kubectl edit does: with the version that was read', async () => {
  const read = JSON.parse((await k('get cm applied -o json')).out);
  file('edited.json', JSON.stringify({ ...read, data: { color: 'purple' } }));
  const { resourceVersion: _version, uid: _uid, ...metadata } = read.metadata;
  file('other.json', JSON.stringify({ ...read, metadata: { ...metadata, name: 'nope' } }));
  await steps(
    ['replace -f edited.json', 'configmap/applied replaced'],
    fails(
      'replace -f edited.json',
      'Error from server (Conflict): error when replacing "edited.json": Operation cannot be fulfilled on configmaps ' +
        '"applied": the object has been modified; please apply your changes to the latest version and try again',
    ),
    fails(
      'replace -f other.json',
      'Error from server (NotFound): error when replacing "other.json": configmaps "nope" not found',
    ),
    fails(
      'create -f edited.json',
      'Error from server (AlreadyExists): error when creating "edited.json": configmaps "applied" already exists',
    ),
    ['get cm applied -o jsonpath={.data.color}', 'purple'],
  );
});

it('patches, labels, annotates, scales, sets', async () => {
  const rejected = 'The request is invalid: the server rejected our request due to an error in our request';
  await steps(
    [`patch cm applied --type=merge -p '{"data":{"size":"xl"}}'`, 'configmap/applied patched'],
    [`patch cm applied --type=merge -p '{"data":{"size":"xl"}}'`, 'configmap/applied patched (no change)'],
    fails(`patch cm applied --type=json -p '[{"op":"test","path":"/data/size","value":"no"}]'`, rejected),
    fails(`patch cm applied --type=json -p '[{"op":"remove","path":"/data/nosuch"}]'`, rejected),
    [
      `patch cm applied --type=json -p '[{"op":"replace","path":"/data/size","value":"s"},{"op":"remove","path":"/data/color"}]'`,
      'configmap/applied patched',
    ],
    ['get cm applied -o jsonpath={.data}', '{"size":"s"}'],
    [
      `patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'`,
      'deployment.apps/web patched',
    ],
    ['get deploy web -o jsonpath={.spec.template.spec.containers[*].name}', 'side nginx'],
    [
      `patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"side"}]}}}}'`,
      'deployment.apps/web patched',
    ],
    [
      `patch deploy web --subresource=status --type=merge -p '{"status":{"replicas":2,"observedGeneration":3}}'`,
      'deployment.apps/web patched',
    ],
    fails(
      `patch deploy web -p '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}'`,
      has('spec.selector: Invalid value: {"matchLabels":{"app":"web","x":"y"}}: field is immutable'),
    ),
    fails(
      `patch deploy web -p '{"spec":{"replicas":-1}}'`,
      'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    ['label deploy web tier=front', 'deployment.apps/web labeled'],
    fails('label deploy web tier=back', "error: 'tier' already has a value (front), and --overwrite is false"),
    ['label deploy web tier=back --overwrite', 'deployment.apps/web labeled'],
    ['label deploy web tier-', 'deployment.apps/web unlabeled'],
    fails("label deploy web 'bad key=1'", /The Deployment "web" is invalid: metadata.labels: Invalid value: "bad key"/),
    ['annotate deploy web note=hi', 'deployment.apps/web annotated'],
    ['annotate deploy web note-', 'deployment.apps/web annotated'],
    ['scale deploy web --replicas=5', 'deployment.apps/web scaled'],
    fails('scale deploy web --replicas=6 --current-replicas=1', 'error: Expected replicas to be 1, was 5'),
    // Spec, and for deployments annotations too, count as generations; labels and status do not.
    ["get deploy web -o jsonpath='{.spec.replicas} {.metadata.generation}'", '5 6'],
    ['get deploy web --subresource=scale', table('NAME  DESIRED  AVAILABLE  AGE', 'web  5  2  AGE')],
    ['set image deploy/web nginx=nginx:1.28', 'deployment.apps/web image updated'],
    ['set env deploy/web A=1', 'deployment.apps/web env updated'],
    ['set resources deploy/web --limits=cpu=200m,memory=64Mi', 'deployment.apps/web resource requirements updated'],
    ['set serviceaccount deploy/web robot', 'deployment.apps/web serviceaccount updated'],
    ['set selector svc/web app=other', 'service/web selector updated'],
    ['autoscale deploy web --min=1 --max=3 --cpu-percent=50', 'horizontalpodautoscaler.autoscaling/web autoscaled'],
    ['get hpa --no-headers', /^web +Deployment\/web +cpu: <unknown>\/50% +1 +3 +0 +\d+s$/],
  );
});

it('waits and follows rollouts', async () => {
  await steps(
    ['rollout history deploy/web', has('No rollout history found.')],
    ['rollout restart deploy/web', 'deployment.apps/web restarted'],
    ['rollout pause deploy/web', 'deployment.apps/web paused'],
    ['rollout resume deploy/web', 'deployment.apps/web resumed'],
    fails(
      'rollout status deploy/web --timeout=1s',
      'Waiting for deployment spec update to be observed...\nerror: timed out waiting for the condition',
    ),
    fails(
      'wait --for=condition=Available deploy/web --timeout=1s',
      'error: timed out waiting for the condition on deployments/web',
    ),
  );
  // What a deployment controller would report, while others wait for it.
  const observedGeneration = Number((await k('get deploy web -o jsonpath={.metadata.generation}')).out);
  const status = {
    ...{ observedGeneration, replicas: 5, readyReplicas: 5, updatedReplicas: 5, availableReplicas: 5 },
    conditions: [{ type: 'Available', status: 'True', reason: 'Enough', message: 'all there' }],
  };
  const waiting = [
    k('wait --for=condition=Available deploy/web --timeout=20s'),
    k('wait --for=jsonpath={.status.readyReplicas}=5 deploy/web --timeout=20s'),
    k('rollout status deploy/web --timeout=20s'),
  ];
  await new Promise((resolve) => setTimeout(resolve, 500));
  await steps([
    `patch deploy web --subresource=status --type=merge -p '${JSON.stringify({ status })}'`,
    'deployment.apps/web patched',
  ]);
  const [condition, path, rollout] = await Promise.all(waiting);
  expect(condition?.all).toBe('deployment.apps/web condition met');
  expect(path?.all).toBe('deployment.apps/web condition met');
  expect(rollout?.all).toMatch(/deployment "web" successfully rolled out$/);
});

it('watches', async () => {
  const watch = k.start('get cm -l watched=yes -w --output-watch-events --no-headers');
  let seen = '';
  watch.stdout?.setEncoding('utf8').on('data', (text) => {
    seen += text;
  });
  // -w starts with a list; the label selector keeps everything else out.
  await steps(['create cm seen', 'configmap/seen created'], ['label cm seen watched=yes', 'configmap/seen labeled']);
  await expect.poll(() => seen, { timeout: 20_000 }).toContain('ADDED');
  await steps(
    [`patch cm seen -p '{"data":{"a":"1"}}'`, 'configmap/seen patched'],
    ['label cm seen watched-', 'configmap/seen unlabeled'],
    ['delete cm seen', 'configmap "seen" deleted'],
  );
  await expect.poll(() => seen, { timeout: 20_000 }).toContain('DELETED');
  watch.kill();
  expect(rows(seen.trim()).map((row) => row.replace(/ {2}\d+s$/, ''))).toEqual([
    'ADDED  seen  0',
    'MODIFIED  seen  1',
    'DELETED  seen  1',
  ]);
});

it('handles a node that is only an object', async () => {
  const node = 'apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\n';
  await steps(
    from(node, 'create -f -', 'node/n1 created'),
    ['cordon n1', 'node/n1 cordoned'],
    ['cordon n1', 'node/n1 already cordoned'],
    ['uncordon n1', 'node/n1 uncordoned'],
    ['taint node n1 a=b:NoSchedule', 'node/n1 tainted'],
    ['taint node n1 a:NoSchedule-', 'node/n1 untainted'],
    ['drain n1 --ignore-daemonsets --force', 'node/n1 cordoned\nnode/n1 drained'],
    ['get nodes --no-headers', /^n1 +Unknown,SchedulingDisabled +<none> +\d+s$/],
    ['describe node n1', has('node.kubernetes.io/not-ready:NoSchedule', 'Unschedulable:      true')],
    ['delete node n1', 'node "n1" deleted'],
  );
});

it('asks who may do what', async () => {
  const robot = '--as=system:serviceaccount:demo:robot';
  const rbac = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: jane, namespace: demo}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: jane, namespace: demo}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: jane}
subjects: [{kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}]
`;
  file('rbac.yaml', rbac);
  await steps(
    [`auth can-i list pods ${robot}`, 'yes'],
    fails(`auth can-i delete pods ${robot}`, 'no'),
    [`auth can-i --list ${robot}`, /^configmaps +\[\] +\[\] +\[get list watch\]$/m],
    fails('auth can-i list pods --as=jane', 'no'),
    fails(
      'get pods --as=jane',
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in ' +
        'the namespace "demo"',
    ),
    [
      'auth reconcile -f rbac.yaml',
      has('role.rbac.authorization.k8s.io/jane reconciled', 'reconciliation required create'),
    ],
    [
      'auth reconcile -f rbac.yaml',
      'role.rbac.authorization.k8s.io/jane reconciled\nrolebinding.rbac.authorization.k8s.io/jane reconciled',
    ],
    ['get pods --as=jane -o name', 'pod/solo'],
    ['set subject rolebinding jane --user=joe', 'rolebinding.rbac.authorization.k8s.io/jane subjects updated'],
    ['get pods --as=joe -o name', 'pod/solo'],
    fails(
      'create role more --verb=* --resource=* --as=jane',
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io is forbidden: User "jane" cannot create resource ' +
        '"roles" in API group "rbac.authorization.k8s.io" in the namespace "demo"',
    ),
    ['get ns demo -o name --as=jane --as-group=system:masters', 'namespace/demo'],
    fails(`get pods -n default ${robot}`, /User "system:serviceaccount:demo:robot" cannot list resource "pods"/),
  );
  const token = (await k('create token robot')).out.trim();
  await steps(
    [`get cm settings -o name --token=${token}`, 'configmap/settings'],
    [`auth whoami --token=${token} -o jsonpath={.status.userInfo.username}`, 'system:serviceaccount:demo:robot'],
    fails('get cm --token=forged', 'error: You must be logged in to the server (Unauthorized)'),
  );
});

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.demo.example}
spec:
  group: demo.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Phase, type: string, jsonPath: .status.phase}
    schema:
      openAPIV3Schema:
        description: A Widget is a thing.
        type: object
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How big it is.}
              color: {type: string, enum: [red, blue], default: red}
              replicas: {type: integer, default: 1}
            x-kubernetes-validations:
            - {rule: "self.size < 100", message: "size must be under 100"}
          status:
            type: object
            properties: {phase: {type: string}, replicas: {type: integer}}
`;
const widget = (name: string, spec: string) =>
  `apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

it('defines and uses a custom resource', async () => {
  const unknown =
    'Error from server (BadRequest): error when creating "STDIN": Widget in version "v1" cannot be handled as a ' +
    'Widget: strict decoding error: unknown field "spec.colour"';
  const unchecked =
    '* <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct ' +
    'the existing errors to complete validation';
  await steps(
    fails(
      'create -f -',
      'error: resource mapping not found for name: "a" namespace: "" from "STDIN": no matches for kind "Widget" in ' +
        'version "demo.example/v1"\nensure CRDs are installed first',
      widget('a', '{size: 5}'),
    ),
    from(CRD, 'create -f -', 'customresourcedefinition.apiextensions.k8s.io/widgets.demo.example created'),
    ['wait --for=condition=Established crd/widgets.demo.example --timeout=20s', /condition met$/],
    ['get crd widgets.demo.example --no-headers', /^widgets\.demo\.example +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  );
  // OpenAPI follows the CRD a moment later, on the real server some seconds later.
  await expect.poll(async () => (await k('explain widget.spec')).code, { timeout: 30_000 }).toBe(0);
  await steps(
    ['explain widget.spec', has('FIELD: spec <Object>', 'What is wanted.', 'enum: red, blue', '<integer> -required-')],
    ['explain widget.spec.size', has('FIELD: size <integer>', 'How big it is.')],
    from(widget('a', '{size: 5}'), 'create -f -', 'widget.demo.example/a created'),
    fails(
      'create -f -',
      'The Widget "b" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      widget('b', '{size: 0}'),
    ),
    fails(
      'create -f -',
      // In no particular order: the real server walks a map.
      has(
        'The Widget "b" is invalid: \n* spec.',
        '\n* spec.color: Unsupported value: "green": supported values: "red", "blue"\n',
        '\n* spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"\n',
        unchecked,
      ),
      widget('b', '{color: green, size: big}'),
    ),
    fails('create -f -', `The Widget "b" is invalid: \n* spec.size: Required value\n${unchecked}`, widget('b', '{}')),
    fails(
      'create -f -',
      'The Widget "b" is invalid: spec: Invalid value: size must be under 100',
      widget('b', '{size: 100}'),
    ),
    fails('create -f -', unknown, widget('b', '{size: 3, colour: red}')),
    fails('create --validate=strict -f -', unknown, widget('b', '{size: 3, colour: red}')),
    from(
      widget('b', '{size: 3, colour: red}'),
      'create --validate=warn -f -',
      'Warning: unknown field "spec.colour"\nwidget.demo.example/b created',
    ),
    from(widget('c', '{size: 3, colour: red}'), 'create --validate=ignore -f -', 'widget.demo.example/c created'),
    from(
      widget('d', '{size: 3}'),
      'create --dry-run=server -o jsonpath={.spec} -f -',
      '{"color":"red","replicas":1,"size":3}',
    ),
    ['get widgets', table('NAME  SIZE  PHASE', 'a  5', 'b  3', 'c  3')],
    ['scale widget a --replicas=4', 'widget.demo.example/a scaled'],
    [
      `patch widget a --type=merge --subresource=status -p '{"status":{"phase":"Ready"},"spec":{"size":9}}'`,
      'widget.demo.example/a patched',
    ],
    ['get wd a', table('NAME  SIZE  PHASE', 'a  5  Ready')],
    ["get wd a -o jsonpath='{.spec} {.metadata.generation}'", '{"color":"red","replicas":4,"size":5} 2'],
    ['describe widget a', has('Kind:         Widget', 'Phase:  Ready')],
    from(widget('e', '{size: 7}'), 'apply --server-side -f -', 'widget.demo.example/e serverside-applied'),
    fails(
      'apply --server-side -f - --field-manager=two',
      /Apply failed with 1 conflict: conflict with "kubectl": \.spec\.size/,
      widget('e', '{size: 8}'),
    ),
    ['wait --for=jsonpath={.status.phase}=Ready widget/a --timeout=5s', 'widget.demo.example/a condition met'],
    ['delete widgets --all', /widget.demo.example "a" deleted/],
    ['delete crd widgets.demo.example', 'customresourcedefinition.apiextensions.k8s.io "widgets.demo.example" deleted'],
  );
});

it('says what is wrong with a manifest', async () => {
  const typo = `apiVersion: apps/v1
kind: Deployment
metadata: {name: typo}
spec: {replica: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: x, image: z, imag: z}]}}}`;
  const unknown = 'unknown field "spec.replica", unknown field "spec.template.spec.containers[0].imag"';
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: Bad_Name}
spec: {containers: [{name: x, imagePullPolicy: Sometimes}]}`;
  await steps(
    fails(
      'create -f -',
      `Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ${unknown}`,
      typo,
    ),
    from(
      typo,
      'create --validate=warn -f -',
      `Warning: ${unknown.replace(', ', '\nWarning: ')}\ndeployment.apps/typo created`,
    ),
    ['delete deploy typo', 'deployment.apps "typo" deleted'],
    fails(
      'create -f -',
      has(
        'The Pod "Bad_Name" is invalid: \n* metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain',
        '* spec.containers[0].image: Required value',
        '* spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
      ),
      pod,
    ),
    fails(
      'create -f -',
      /no matches for kind "Thing" in version "nosuch.io\/v1"/,
      'apiVersion: nosuch.io/v1\nkind: Thing\nmetadata: {name: x}',
    ),
    ['create cm dry --from-literal=a=b --dry-run=server', 'configmap/dry created (server dry run)'],
    fails('get cm dry', 'Error from server (NotFound): configmaps "dry" not found'),
    fails(
      'create cm over --from-literal=a=b -n nosuch',
      'error: failed to create configmap: namespaces "nosuch" not found',
    ),
  );
});

it('builds with kustomize', async () => {
  mkdirSync(join(k.folder, 'kz'));
  file(
    'kz/kustomization.yaml',
    'namePrefix: kz-\nnamespace: demo\nresources: [cm.yaml]\nconfigMapGenerator: [{name: gen, literals: [x=1]}]\n',
  );
  file('kz/cm.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n');
  await steps(
    ['kustomize kz', has('name: kz-plain', 'name: kz-gen-')],
    ['apply -k kz', 'configmap/kz-gen-hmg6f82fh6 created\nconfigmap/kz-plain created'],
    ['diff -k kz', ''],
    ['delete -k kz', 'configmap "kz-gen-hmg6f82fh6" deleted\nconfigmap "kz-plain" deleted'],
  );
});

it('says clearly what needs a kubelet', async () => {
  const unassigned = 'Error from server (BadRequest): pod solo does not have a host assigned';
  await steps(
    fails('top pods', 'error: Metrics API not available'),
    fails('top nodes', 'error: Metrics API not available'),
    ['logs solo', ''],
    fails('exec solo -- true', unassigned),
    fails('attach solo', /unassigned|does not have a host assigned|Pending/),
    fails('port-forward solo 8080:80', /unable to forward port because pod is not running/),
  );
});

it('proxies', async () => {
  const proxy = k.start('proxy --port=0');
  const port = await new Promise<string>((resolve) => {
    proxy.stdout?.setEncoding('utf8').on('data', (text: string) => resolve(/:(\d+)/.exec(text)?.[1] ?? ''));
  });
  const list = await (await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/demo/configmaps`)).json();
  expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
  proxy.kill();
});

it('approves a certificate request; the certificate works', async () => {
  const request = readFileSync(join(k.folder, 'jane.pem')).toString('base64');
  const csr = `apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: jane}
spec: {request: ${request}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}`;
  await steps(
    from(csr, 'create -f -', 'certificatesigningrequest.certificates.k8s.io/jane created'),
    ['get csr --no-headers', /^jane +\d+s +kubernetes\.io\/kube-apiserver-client +\S+ +<none> +Pending$/],
    ['certificate approve jane', 'certificatesigningrequest.certificates.k8s.io/jane approved'],
    ['get csr jane -o jsonpath={.status.conditions[0].type}', 'Approved'],
  );
  if (REAL) return; // signing takes a controller with the CA's key
  await steps(['wait --for=jsonpath={.status.certificate} csr/jane --timeout=10s', /condition met/]);
  const certificate = (await k('get csr jane -o jsonpath={.status.certificate}')).out;
  file('jane.crt', Buffer.from(certificate, 'base64').toString());
  const ca = (await k('config view --raw --minify -o jsonpath={.clusters[0].cluster.certificate-authority-data}')).out;
  file('ca.crt', Buffer.from(ca, 'base64').toString());
  await steps(
    ['config set-credentials jane --client-certificate=jane.crt --client-key=jane.key --embed-certs', /set/],
    ['auth whoami --user=jane', /Username +jane\nGroups +\[dev system:authenticated\]/],
    ['create rolebinding dev --role=reader --group=dev', /created/],
    ['get cm settings --user=jane -o name', 'configmap/settings'],
    fails('get secrets --user=jane', /User "jane" cannot list resource "secrets"/),
    ['delete csr jane', /deleted/],
  );
});

it('deletes: cascades, grace, selectors, a namespace', async () => {
  const dependent = async (name: string) => {
    await k('create cm owner');
    const uid = (await k('get cm owner -o jsonpath={.metadata.uid}')).out;
    const owner = `{apiVersion: v1, kind: ConfigMap, name: owner, uid: ${uid}, blockOwnerDeletion: true}`;
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, ownerReferences: [${owner}]}\n`;
    await steps(from(text, 'create -f -', `configmap/${name} created`));
    // The real garbage collector learns of an owner by watching; ours looks.
    if (REAL) await new Promise((resolve) => setTimeout(resolve, 2000));
  };
  await dependent('orphan');
  await steps(['delete cm owner --cascade=orphan', 'configmap "owner" deleted']);
  await expect.poll(async () => (await k('get cm orphan -o jsonpath={.metadata.ownerReferences}')).out).toBe('');
  await dependent('first');
  await steps(
    ['delete cm owner --cascade=foreground', 'configmap "owner" deleted'],
    fails('get cm first', 'Error from server (NotFound): configmaps "first" not found'),
  );
  await dependent('later');
  await steps(
    ['delete cm owner --cascade=background', 'configmap "owner" deleted'],
    ['wait --for=delete cm/later --timeout=20s', /^(configmap\/later condition met)?$/],
    ['delete pod solo --grace-period=0 --force', /pod "solo" force deleted$/],
    fails('delete pod solo', 'Error from server (NotFound): pods "solo" not found'),
    ['delete cm -l team=red', 'configmap "applied" deleted'],
    ['delete deploy api --now', 'deployment.apps "api" deleted'],
    ['delete cm nosuch --ignore-not-found', ''],
    ['delete cm --all --dry-run=server', has('configmap "files" deleted (server dry run)')],
    ['get cm files -o name', 'configmap/files'],
    ['delete clusterrole node-reader', 'clusterrole.rbac.authorization.k8s.io "node-reader" deleted'],
    ['delete clusterrolebinding robot-nodes', 'clusterrolebinding.rbac.authorization.k8s.io "robot-nodes" deleted'],
    ['delete priorityclass high', 'priorityclass.scheduling.k8s.io "high" deleted'],
    ['delete ns demo', 'namespace "demo" deleted'],
    fails('get ns demo', 'Error from server (NotFound): namespaces "demo" not found'),
  );
});
