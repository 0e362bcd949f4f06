/**
 * The attacked installation: a built control plane that serves every address of this machine, two virtual clusters (red and blue),
 * and users of the smallest roles. The attacker has what red's people have; blue is the victim.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Answer, Http } from '../harness/http.ts';
import { Rookery } from '../harness/rookery.ts';

export interface User {
  readonly token: string;
  readonly http: Http;
}

export interface Scene {
  readonly rookery: Rookery;
  readonly url: string;
  readonly webUrl: string;
  readonly ca: string;
  /** Administrator of the installation. */
  readonly root: User;
  /** Administrators of the two virtual clusters. */
  readonly red: User;
  readonly blue: User;
  /** In the installation's namespace `team-red`: a ServiceAccount bound to `rookery-tenant`, and one bound to `rookery-student`. */
  readonly tenant: User;
  readonly student: User;
  /** There too: may write every kind of cluster, and has no permission for the host. */
  readonly builder: User;
  /** Somebody without any credential, at the installation and at red. */
  readonly stranger: Http;
  /** The process of the control plane. */
  pid(): number;
  close(): Promise<void>;
}

export const NAMESPACE = 'team-red';
/** A Secret that only blue and the installation have. */
export const CANARY = 'canary-of-others';

/** The answer contains the Secret of others: the attacker reached it. */
export function hasCanary(text: string): boolean {
  return text.includes(Buffer.from(CANARY).toString('base64'));
}

export async function openScene(): Promise<Scene> {
  const rookery = new Rookery({ ROOKERY_HOST: '0.0.0.0', ROOKERY_WEB_PORT: '0', ROOKERY_LOG_LEVEL: 'info' });
  const clients: Http[] = [];
  const client = (url: string, ca: string, token: string): User => {
    const http = new Http(url, ca, token);
    clients.push(http);
    return { token, http };
  };
  try {
    const { url, webUrl } = await rookery.json<{ url: string; webUrl: string }>('up', '--detach', '--no-demo');
    for (const name of ['red', 'blue']) await created(rookery, name);
    const admin = credentialsIn(join(rookery.home, 'kubeconfig'));
    const { ca } = admin;
    const root = client(url, ca, admin.token);
    const of = (name: string) =>
      client(`${url}/clusters/${name}`, ca, credentialsIn(join(rookery.home, 'clusters', `${name}.kubeconfig`)).token);
    await done(root.http.post('/api/v1/namespaces', named('v1', 'Namespace', NAMESPACE)));
    const [red, blue] = [of('red'), of('blue')];
    for (const { http } of [root, blue]) {
      const secret = { ...named('v1', 'Secret', CANARY), stringData: { canary: CANARY } };
      await done(http.post('/api/v1/namespaces/default/secrets', secret));
    }
    await done(
      root.http.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
        ...named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'builder'),
        rules: [{ apiGroups: ['infrastructure.cluster.x-k8s.io'], resources: ['*'], verbs: ['*'] }],
      }),
    );
    const member = async (role: string) => client(url, ca, await memberToken(root.http, role));
    return {
      rookery,
      url,
      webUrl,
      ca,
      root,
      red,
      blue,
      tenant: await member('rookery-tenant'),
      student: await member('rookery-student'),
      builder: await member('builder'),
      stranger: client(url, ca, '').http,
      pid: () => JSON.parse(readFileSync(join(rookery.home, 'state.json'), 'utf8')).pid as number,
      close: () => close(rookery, clients),
    };
  } catch (error) {
    await close(rookery, clients);
    throw error;
  }
}

async function close(rookery: Rookery, clients: Http[]): Promise<void> {
  for (const http of clients) http.close();
  await rookery.close();
}

async function created(rookery: Rookery, name: string): Promise<void> {
  const { code, stderr } = await rookery.run('cluster', 'create', name);
  if (code !== 0) throw new Error(`cluster create ${name}: ${stderr}`);
}

/** A ServiceAccount named after the role, bound to it in the namespace alone. */
async function memberToken(http: Http, role: string): Promise<string> {
  const place = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await done(http.post(place, named('v1', 'ServiceAccount', role)));
  await done(
    http.post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
      ...named('rbac.authorization.k8s.io/v1', 'RoleBinding', role),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: role, namespace: NAMESPACE }],
    }),
  );
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  return (await done(http.post(`${place}/${role}/token`, request))).json.status.token;
}

export function named(apiVersion: string, kind: string, name: string): Record<string, unknown> {
  return { apiVersion, kind, metadata: { name } };
}

export async function done(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer;
}

export function credentialsIn(file: string): { ca: string; token: string } {
  const { clusters, users } = parse(readFileSync(file, 'utf8'));
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
  return { ca, token: users[0].user.token };
}
