// etcd and kube-apiserver on loopback, nothing else: what differential tests compare with, and the management cluster for
// Cluster API where no node is needed.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { program } from '../environment.ts';
import { waitFor } from '../process.ts';
import { killInstance } from './mark.ts';
import { freePorts } from './port.ts';
import type { ServiceContext, ServiceKind, ServiceState } from './service.ts';

/** The certificate is made by kube-apiserver itself at its first start, so readiness is asked without checking it. */
function readyz(server: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(
      `${server}/readyz`,
      { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` }, timeout: 2000 },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.once('error', () => resolve(false));
    asked.once('timeout', () => asked.destroy());
    asked.end();
  });
}

const kubeconfig = (server: string, token: string, authority: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bed',
    clusters: [{ name: 'bed', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'bed', user: { token } }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'bed' } }],
  });

/** Starts both in an instance's folder; other services that need an API server of their own do it by this too. */
export async function startApiserver({ folder, spawn }: ServiceContext): Promise<ServiceState> {
  const [client, peer, secure] = (await freePorts(3)) as [number, number, number];
  const token = randomBytes(16).toString('hex');
  const key = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(join(folder, 'sa.key'), key.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'sa.pub'), key.publicKey);
  writeFileSync(join(folder, 'tokens.csv'), `${token},bed-admin,bed-admin,system:masters\n`, { mode: 0o600 });
  const store = `http://127.0.0.1:${client}`;
  spawn(
    program('etcd', 'etcd'),
    [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${store}`,
      `--advertise-client-urls=${store}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    'etcd.log',
  );
  spawn(
    program('kubernetes', 'kube-apiserver'),
    [
      `--etcd-servers=${store}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${secure}`,
      `--cert-dir=${join(folder, 'certs')}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${join(folder, 'sa.pub')}`,
      `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
      '--endpoint-reconciler-type=none',
    ],
    'kube-apiserver.log',
  );
  const server = `https://127.0.0.1:${secure}`;
  await waitFor(`kube-apiserver (log: ${folder}/kube-apiserver.log)`, 90_000, () => readyz(server, token), 100);
  const file = join(folder, 'kubeconfig');
  writeFileSync(
    file,
    kubeconfig(server, token, readFileSync(join(folder, 'certs', 'apiserver.crt')).toString('base64')),
    { mode: 0o600 },
  );
  return { env: { KUBECONFIG: file, KUBE_SERVER: server, KUBE_TOKEN: token, ETCD_URL: store }, restore: {} };
}

export const kubeApiserver: ServiceKind = {
  name: 'kube-apiserver',
  shared: false,
  start: startApiserver,
  healthy: async ({ env }) => readyz(env.KUBE_SERVER as string, env.KUBE_TOKEN as string),
  async stop(folder) {
    // Nothing of it is kept, so there is nothing to be gentle with.
    killInstance(folder);
  },
};
