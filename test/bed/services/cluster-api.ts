// A management cluster without nodes: a bare API server, the few controllers Cluster API relies on (garbage collection,
// namespaces), upstream's own CRDs and the unmodified upstream core manager.
import { request } from 'node:http';
import { join } from 'node:path';
import { folderOf } from '../cache.ts';
import { program } from '../environment.ts';
import { run, waitFor } from '../process.ts';
import { kubeApiserver, startApiserver } from './kube-apiserver.ts';
import { freePorts } from './port.ts';
import type { ServiceKind } from './service.ts';

function ok(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, { timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.once('timeout', () => asked.destroy());
    asked.end();
  });
}

export const clusterApi: ServiceKind = {
  ...kubeApiserver,
  name: 'cluster-api',
  async start(context) {
    const { folder, spawn } = context;
    const { env, restore } = await startApiserver(context);
    const kubeconfig = env.KUBECONFIG as string;
    const [manager, webhook, health, diagnostics] = (await freePorts(4)) as [number, number, number, number];
    spawn(
      program('kubernetes', 'kube-controller-manager'),
      [
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${manager}`,
        `--cert-dir=${join(folder, 'manager-certs')}`,
        '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller',
        `--service-account-private-key-file=${join(folder, 'sa.key')}`,
      ],
      'kube-controller-manager.log',
    );
    const kubectl = (...args: string[]): Promise<string> =>
      run(program('kubernetes', 'kubectl'), ['--kubeconfig', kubeconfig, ...args], { timeoutMs: 120_000 });
    const crds = join(folderOf('cluster-api'), 'keep/core/config/crd/bases');
    await kubectl('apply', '--server-side', '-f', crds);
    // Upstream's manifests put the contract on the CRDs by a patch; core looks kinds up by it.
    await kubectl('label', '-f', crds, 'cluster.x-k8s.io/v1beta2=v1beta2', 'cluster.x-k8s.io/provider=cluster-api');
    await kubectl('wait', '--for=condition=Established', '--timeout=60s', '-f', crds);
    spawn(
      program('cluster-api', 'capi-core'),
      [
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        `--webhook-port=${webhook}`,
        `--webhook-cert-dir=${join(folder, 'certs')}`,
        // No webhook is registered with the API server; the manager only insists on having a certificate.
        '--webhook-cert-name=apiserver.crt',
        '--webhook-key-name=apiserver.key',
        `--health-addr=127.0.0.1:${health}`,
        `--diagnostics-address=127.0.0.1:${diagnostics}`,
        '--insecure-diagnostics',
      ],
      'capi-core.log',
    );
    await waitFor(
      `Cluster API core (log: ${folder}/capi-core.log)`,
      120_000,
      () => ok(`http://127.0.0.1:${health}/readyz`),
      200,
    );
    return { env: { ...env, CAPI_CORE_LOG: join(folder, 'capi-core.log') }, restore };
  },
};
