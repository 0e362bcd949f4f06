/** Pods run as a ServiceAccount that exists, with its token mounted and its pull secrets. */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { type Any, items } from '../builtins/fields.ts';
import { type AdmissionAttributes, type AdmissionPlugin, isResource, refuse } from './admission.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME = 'kube-api-access';
const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
const TOKEN_SECONDS = 3607;
/** The namespace's loop makes the default account a moment after the namespace. */
const DEFAULT_ATTEMPTS = 10;
const ATTEMPT_MS = 100;

async function findAccount(attributes: AdmissionAttributes, name: string): Promise<KubeObject> {
  const { store, namespace, wait } = attributes;
  for (let attempt = 1; ; attempt++) {
    const found = store.get({ resource: '/serviceaccounts', namespace, name });
    if (found) return found.object();
    if (name !== 'default' || !wait || attempt >= DEFAULT_ATTEMPTS) {
      const missing = `serviceaccount ${JSON.stringify(name)} not found`;
      throw refuse(attributes, `error looking up service account ${namespace}/${name}: ${missing}`);
    }
    await wait(ATTEMPT_MS);
  }
}

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Five letters from the pod's own identity, so that the same request gives the same pod. */
function volumeSuffix(pod: KubeObject): string {
  const seed = pod.metadata.uid ?? `${pod.metadata.namespace}/${pod.metadata.name}/${pod.metadata.generateName}`;
  const digest = createHash('sha256').update(seed).digest();
  return Array.from({ length: 5 }, (_, i) => ALPHABET[(digest[i] as number) % ALPHABET.length]).join('');
}

function tokenVolume(name: string): Any {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

function mountToken(pod: KubeObject): void {
  const existing = items(pod.spec.volumes).find((volume) => `${volume.name}`.startsWith(`${VOLUME}-`))?.name;
  const name = existing ?? `${VOLUME}-${volumeSuffix(pod)}`;
  let needed = false;
  for (const container of [...items(pod.spec.initContainers), ...items(pod.spec.containers)]) {
    const mounts = items(container.volumeMounts);
    if (mounts.some((mount) => mount.mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    needed = true;
  }
  if (needed && !existing) pod.spec.volumes = [...items(pod.spec.volumes), tokenVolume(name)];
}

function limitSecrets(attributes: AdmissionAttributes, account: KubeObject, pod: KubeObject): void {
  const allowed = new Set(items(account.secrets).map((secret) => secret.name));
  const because = `is not allowed because service account ${account.metadata.name} does not reference that`;
  for (const volume of items(pod.spec.volumes)) {
    const secret = volume.secret?.secretName;
    if (secret && !allowed.has(secret)) {
      throw refuse(attributes, `volume with secret.secretName="${secret}" ${because} secret`);
    }
  }
  for (const [kind, list] of [
    ['init container', pod.spec.initContainers],
    ['container', pod.spec.containers],
  ] as const) {
    for (const container of items(list)) {
      for (const env of items(container.env)) {
        const secret = env.valueFrom?.secretKeyRef?.name;
        if (!secret || allowed.has(secret)) continue;
        const where = `${kind} ${container.name} with envVar ${env.name}`;
        throw refuse(attributes, `${where} referencing secret.secretName="${secret}" ${because} secret`);
      }
      for (const source of items(container.envFrom)) {
        const secret = source.secretRef?.name;
        if (!secret || allowed.has(secret)) continue;
        const where = `${kind} ${container.name} with envFrom`;
        throw refuse(attributes, `${where} referencing secret.secretName="${secret}" ${because} secret`);
      }
    }
  }
  const pull = new Set(items(account.imagePullSecrets).map((secret) => secret.name));
  for (const [index, { name }] of items(pod.spec.imagePullSecrets).entries()) {
    if (!pull.has(name))
      throw refuse(attributes, `imagePullSecrets[${index}].name="${name}" ${because} imagePullSecret`);
  }
}

export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  handles: (attributes) => attributes.operation === 'CREATE' && isResource(attributes, '', 'pods'),
  async mutate(attributes) {
    const pod = attributes.object as KubeObject;
    if (pod.metadata.annotations?.[MIRROR] !== undefined) {
      if (pod.spec?.serviceAccountName) throw refuse(attributes, 'a mirror pod may not reference service accounts');
      return;
    }
    const name = pod.spec.serviceAccountName || 'default';
    pod.spec.serviceAccountName = name;
    pod.spec.serviceAccount = name;
    const account = await findAccount(attributes, name);
    if (pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod);
    if (items(pod.spec.imagePullSecrets).length === 0 && items(account.imagePullSecrets).length) {
      pod.spec.imagePullSecrets = items(account.imagePullSecrets).map((secret) => ({ name: secret.name }));
    }
    if (account.metadata.annotations?.[ENFORCE] === 'true') limitSecrets(attributes, account, pod);
  },
};
