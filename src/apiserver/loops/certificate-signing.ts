/**
 * CertificateSigningRequests: those of nodes for themselves are approved when RBAC says so, and whatever was approved
 * for one of Kubernetes' own signers is signed by the cluster's client CA. Without a CA nothing is watched.
 */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { own } from '../json.ts';
import { builtin, hasReason, type Loop, type LoopContext, scan, WRITE, warn } from './loop.ts';
import { KUBELET_CLIENT, type RequestedCertificate, SIGNERS } from './signer-rules.ts';
import { WorkQueue } from './work-queue.ts';

const REQUESTS = 'certificates.k8s.io/certificatesigningrequests';
const YEAR_SECONDS = 365 * 24 * 3600;
const MIN_SECONDS = 600;

/** Whoever holds the CA; PEM in, PEM out. */
export interface CertificateSigner {
  /** Throws when the request is malformed or its signature is wrong. */
  read(request: string): RequestedCertificate;
  sign(request: string, usages: ('client' | 'server')[], seconds: number): string;
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastUpdateTime?: string;
}

export const certificateSigning: Loop = (context) => {
  const { store, clock, signer } = context;
  if (!signer) return () => {};
  const queue = new WorkQueue({
    clock,
    work: (name) => handle(context, signer, name),
    onError: (name, error) => {
      if (!hasReason(error, 'Conflict', 'NotFound')) warn(context, `signing request ${name} failed`, error);
    },
  });
  const stop = store.watch({ resource: REQUESTS, afterRv: store.rv }, ({ type, current }) => {
    if (type !== 'DELETED') queue.add(current.key.name);
  });
  const stopScan = scan(context, REQUESTS, ({ key }) => queue.add(key.name));
  return () => {
    stop();
    stopScan();
    queue.stop();
  };
};

async function handle(context: LoopContext, signer: CertificateSigner, name: string): Promise<void> {
  const object = context.store.get({ resource: REQUESTS, namespace: '', name })?.object();
  const rule = object && own(SIGNERS, object.spec?.signerName);
  const conditions: Condition[] = object?.status?.conditions ?? [];
  const is = (type: string) => conditions.some((c) => c.type === type && c.status === 'True');
  if (!object || !rule || object.status?.certificate || is('Denied') || is('Failed')) return;

  const usages: string[] = object.spec.usages ?? [];
  const pem = Buffer.from(object.spec.request ?? '', 'base64').toString('utf8');
  const refused = (message: string) =>
    write(context, object, 'status', {
      conditions: [...conditions, condition(context, 'Failed', 'SignerValidationFailure', message)],
    });
  let request: RequestedCertificate;
  try {
    request = signer.read(pem);
  } catch (error) {
    // It will not get better by trying again.
    if (is('Approved')) await refused(`unable to parse csr: ${(error as Error).message}`);
    return;
  }
  const wrong = rule(request, usages);
  if (!is('Approved')) {
    if (wrong) return;
    const message = autoApproval(context, object, request);
    if (!message) return;
    const approved = condition(context, 'Approved', 'AutoApproved', message);
    return write(context, object, 'approval', { conditions: [...conditions, approved] });
  }
  if (wrong) return refused(wrong);
  const asked: number = object.spec.expirationSeconds ?? YEAR_SECONDS;
  const seconds = Math.min(Math.max(asked, MIN_SECONDS), YEAR_SECONDS);
  const certificate = signer.sign(pem, usages.includes('server auth') ? ['server'] : ['client'], seconds);
  await write(context, object, 'status', { certificate: Buffer.from(certificate).toString('base64') });
}

/** The message of the approval, when the one who asks may have a node's client certificate. */
function autoApproval({ authorizer }: LoopContext, { spec }: KubeObject, request: RequestedCertificate) {
  if (spec.signerName !== KUBELET_CLIENT || !authorizer) return undefined;
  const identity = { user: spec.username ?? '', uid: spec.uid, groups: spec.groups ?? [], extra: spec.extra };
  const may = (subresource: string) =>
    authorizer.authorize(identity, {
      verb: 'create',
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'certificatesigningrequests',
      subresource,
    }).allowed;
  if (identity.user === request.commonName && may('selfnodeclient')) {
    return 'Auto approving self kubelet client certificate after SubjectAccessReview.';
  }
  return may('nodeclient') ? 'Auto approving kubelet client certificate after SubjectAccessReview.' : undefined;
}

function condition({ clock }: LoopContext, type: string, reason: string, message: string): Condition {
  const now = rfc3339(clock.now());
  return { type, status: 'True', reason, message, lastUpdateTime: now };
}

async function write(context: LoopContext, object: KubeObject, subresource: string, status: object): Promise<void> {
  const { name = '', resourceVersion } = object.metadata;
  const resource = builtin(context, 'certificates.k8s.io', 'v1', 'certificatesigningrequests');
  const body = { metadata: { resourceVersion }, status };
  await context.operations.patch(resource, '', name, { type: 'merge', body }, { ...WRITE, subresource });
}
