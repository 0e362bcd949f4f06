// Kubernetes is in the catalog once for every minor: the same programs of a cluster, another folder of pinned modules. The
// client comes from one of them only: it serves the minors beside its own as well.
import type { Part } from './part.ts';

export const kubernetesPart = (
  version: string,
  clients: readonly string[] = [],
): Pick<Part, 'version' | 'source' | 'check'> => {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) as unknown as [string, string, string];
  const names = [
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kubelet',
    'kubeadm',
    'kube-proxy',
    ...clients,
  ];
  // kubeadm compares these with the version it is asked for and refuses an unset one.
  const stamp = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((at) => [
    `-X ${at}.gitVersion=${version}`,
    `-X ${at}.gitMajor=${major}`,
    `-X ${at}.gitMinor=${minor}`,
    `-X ${at}.gitTreeState=clean`,
  ]);
  return {
    version,
    source: {
      from: 'go',
      folder: `kubernetes-${major}.${minor}`,
      programs: Object.fromEntries(names.map((name) => [name, `k8s.io/kubernetes/cmd/${name}`])),
      ldflags: stamp,
    },
    check: names.map((name) => `bin/${name}`),
  };
};
