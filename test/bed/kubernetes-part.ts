// Kubernetes is in the catalog once for every minor: the same seven programs, another folder of pinned modules.
import type { Part } from './part.ts';

export const kubernetesPart = (version: string): Pick<Part, 'version' | 'source' | 'check'> => {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) as unknown as [string, string, string];
  const names = [
    'kube-apiserver',
    'kubectl',
    'kube-controller-manager',
    'kube-scheduler',
    'kubelet',
    'kubeadm',
    'kube-proxy',
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
