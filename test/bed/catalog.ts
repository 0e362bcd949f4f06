// The one table from which everything follows: what `make bed` builds, in which order, what a suite may ask for,
// and what `list` prints. Order is the build order on a cold machine: what most suites need comes first.
import type { Part } from './part.ts';

export const kubernetesVersion = 'v1.35.8';
export const previousKubernetesVersion = 'v1.34.10';
export const k3sVersion = 'v1.35.0+k3s1';
export const k3dVersion = 'v5.9.0';
export const vclusterVersion = '0.34.0';
export const clusterApiVersion = 'v1.14.2';

const kubernetes = (version: string): Pick<Part, 'version' | 'source' | 'check'> => {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) as unknown as [string, string, string];
  const names = ['kube-apiserver', 'kubectl', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubeadm', 'kube-proxy'];
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

const nodePackages = [
  'systemd', 'systemd-sysv', 'dbus', 'iptables', 'nftables', 'iproute2', 'conntrack', 'ipset', 'ethtool', 'socat', 'kmod', 'mount', 'procps',
  'hostname', 'runc', 'containernetworking-plugins', 'openssh-server', 'curl', 'ca-certificates', 'sudo', 'busybox', 'haproxy',
  'libseccomp2', 'iputils-ping',
];
const nodeInputs = ['archive.ts', 'slim-root.ts', 'small-images.ts', 'network-images.ts', 'node-image.ts', 'node'];
const workspacePackages = ['bash', 'git', 'curl', 'ca-certificates', 'ttyd', 'less', 'vim-tiny', 'jq', 'procps', 'bash-completion', 'openssh-client'];

export const catalog: readonly Part[] = [
  {
    name: 'host-tools',
    version: 'bookworm',
    about: 'what the bed itself calls on this machine',
    source: { from: 'apt', packages: ['debootstrap', 'iptables', 'runc', 'openssh-client', 'zlib1g-dev'] },
    check: ['/usr/sbin/debootstrap', '/usr/sbin/iptables', '/usr/sbin/runc', '/usr/bin/ssh', '/usr/include/zlib.h'],
  },
  {
    name: 'kubernetes',
    ...kubernetes(kubernetesVersion),
    about: 'apiserver, controller-manager, scheduler, kubelet, kubeadm, kubectl, proxy',
  },
  {
    name: 'etcd',
    version: '3.6.14',
    about: 'the store of every kubeadm cluster and of the bare kube-apiserver',
    source: { from: 'go', folder: 'etcd', programs: { etcd: 'go.etcd.io/etcd/server/v3' } },
    check: ['bin/etcd'],
  },
  {
    name: 'docker',
    version: '26.1',
    about: 'engine, client and containerd; newer than the system’s because that one cannot run privileged containers here',
    source: { from: 'debian', suite: 'trixie', packages: { 'docker.io': '26.1', 'docker-cli': '26.1', containerd: '1.7', tini: '0.19' } },
    needs: ['host-tools'],
    check: ['usr/sbin/dockerd', 'usr/bin/docker', 'usr/bin/containerd', 'usr/bin/ctr', 'usr/bin/containerd-shim-runc-v2'],
  },
  {
    name: 'kind-cli',
    version: '0.33.0',
    about: 'kind, as Debian builds it',
    source: { from: 'debian', suite: 'forky', packages: { kind: '0.33' } },
    check: ['usr/bin/kind'],
  },
  {
    name: 'coredns',
    version: '1.13.1',
    about: 'cluster DNS',
    source: { from: 'go', folder: 'coredns', programs: { coredns: 'github.com/coredns/coredns' } },
    check: ['bin/coredns'],
  },
  {
    name: 'small-programs',
    version: '1',
    about: 'pause, written here: it waits for signals and reaps children',
    source: { from: 'go', folder: 'small-programs', programs: { pause: 'rookery.dev/bed/small-programs/pause' } },
    check: ['bin/pause'],
  },
  {
    name: 'local-path-provisioner',
    version: '0.0.33',
    about: 'persistent volumes on a node’s own disk',
    source: { from: 'go', folder: 'local-path-provisioner', programs: { 'local-path-provisioner': 'github.com/rancher/local-path-provisioner' } },
    check: ['bin/local-path-provisioner'],
  },
  {
    name: 'crictl',
    version: '1.34.0',
    about: 'the container runtime’s client inside a node',
    source: { from: 'go', folder: 'crictl', programs: { crictl: 'sigs.k8s.io/cri-tools/cmd/crictl' } },
    check: ['bin/crictl'],
  },
  {
    name: 'node-rootfs',
    version: 'bookworm',
    about: 'the Debian 12 system inside a node: systemd, sshd, runc, CNI plugins, iptables',
    source: { from: 'rootfs', suite: 'bookworm', packages: nodePackages },
    needs: ['host-tools'],
    check: ['rootfs/usr/lib/systemd/systemd', 'rootfs/usr/sbin/sshd', 'layer.tar'],
  },
  {
    name: 'node-image',
    version: kubernetesVersion,
    about: 'kindest/node: what kind starts, and a kubeadm machine with every image preloaded',
    source: { from: 'image', recipe: 'node-image', inputs: nodeInputs },
    needs: ['kubernetes', 'etcd', 'docker', 'coredns', 'small-programs', 'local-path-provisioner', 'crictl', 'node-rootfs'],
    check: ['image.tar'],
  },
  {
    name: 'k3d-cli',
    version: k3dVersion,
    about: 'k3s clusters in Docker',
    source: {
      from: 'go',
      folder: 'k3d',
      programs: { k3d: '.' },
      copyOf: 'github.com/k3d-io/k3d/v5',
      ldflags: [`-X github.com/k3d-io/k3d/v5/version.Version=${k3dVersion}`, `-X github.com/k3d-io/k3d/v5/version.K3sVersion=${k3sVersion.replace('+', '-')}`],
    },
    check: ['bin/k3d'],
  },
  {
    name: 'flannel-cni',
    version: '0.9.1',
    about: 'the CNI plugin k3s calls for its flannel network',
    source: { from: 'go', folder: 'flannel-cni', programs: { flannel: 'github.com/containernetworking/plugins/plugins/meta/flannel' } },
    check: ['bin/flannel'],
  },
  {
    name: 'k3s',
    version: k3sVersion,
    about: 'the one binary; also kubectl, crictl and ctr by name',
    source: {
      from: 'go',
      folder: 'k3s',
      programs: { k3s: './cmd/server' },
      copyOf: 'github.com/k3s-io/k3s',
      // Without the manifests the cloud-controller gets no rights and nodes keep their `uninitialized` taint.
      overlay: { manifests: 'pkg/deploy/embed' },
      cgo: true,
      tags: ['ctrd', 'netcgo', 'osusergo', 'providerless', 'urfave_cli_no_docs', 'sqlite_omit_load_extension', 'static_build'],
      ldflags: [
        `-X github.com/k3s-io/k3s/pkg/version.Version=${k3sVersion}`,
        '-X github.com/k3s-io/k3s/pkg/version.UpstreamGolang=$GOVERSION',
        `-X k8s.io/component-base/version.gitVersion=${k3sVersion}`,
        `-X k8s.io/client-go/pkg/version.gitVersion=${k3sVersion}`,
        "-extldflags '-static -lm -ldl -lz -lpthread'",
      ],
    },
    needs: ['host-tools'],
    check: ['bin/k3s'],
  },
  {
    name: 'k3s-image',
    version: k3sVersion,
    about: 'rancher/k3s with its system images preloaded, and the k3d helper',
    source: { from: 'image', recipe: 'k3s-image', inputs: ['archive.ts', 'slim-root.ts', 'small-images.ts', 'k3d-tools-image.ts', 'k3s-image.ts', 'k3s'] },
    needs: ['k3s', 'flannel-cni', 'docker', 'coredns', 'small-programs', 'local-path-provisioner', 'node-rootfs'],
    check: ['image.tar'],
  },
  {
    name: 'cluster-api',
    version: clusterApiVersion,
    about: 'upstream core, clusterctl, kubeadm bootstrap and control plane, with their CRDs',
    source: {
      from: 'go',
      folder: 'cluster-api',
      programs: {
        'capi-core': 'sigs.k8s.io/cluster-api/core',
        clusterctl: 'sigs.k8s.io/cluster-api/cmd/clusterctl',
        'capi-kubeadm-bootstrap': 'sigs.k8s.io/cluster-api/bootstrap/kubeadm',
        'capi-kubeadm-control-plane': 'sigs.k8s.io/cluster-api/controlplane/kubeadm',
      },
      keep: { of: 'sigs.k8s.io/cluster-api', folders: ['core/config/crd/bases', 'bootstrap/kubeadm/config/crd/bases', 'controlplane/kubeadm/config/crd/bases'] },
      ldflags: ['-X sigs.k8s.io/cluster-api/version.gitVersion=' + clusterApiVersion, '-X sigs.k8s.io/cluster-api/version.gitMajor=1', '-X sigs.k8s.io/cluster-api/version.gitMinor=14'],
    },
    check: ['bin/capi-core', 'bin/clusterctl', 'bin/capi-kubeadm-bootstrap', 'bin/capi-kubeadm-control-plane', 'keep/core/config/crd/bases'],
  },
  {
    name: 'helm',
    version: '3.22.0',
    about: 'renders vcluster’s chart; also copied into its Kubernetes image',
    source: { from: 'go', folder: 'helm', programs: { helm: 'helm.sh/helm/v3/cmd/helm' } },
    check: ['bin/helm'],
  },
  {
    name: 'kine',
    version: '0.14.10',
    about: 'the SQLite store of a vcluster’s API server',
    source: { from: 'go', folder: 'kine', programs: { kine: '.' }, copyOf: 'github.com/k3s-io/kine', cgo: true, ldflags: ["-extldflags '-static'"], tags: ['osusergo', 'netgo'] },
    check: ['bin/kine'],
  },
  {
    name: 'vcluster',
    version: vclusterVersion,
    about: 'syncer and CLI, with the chart of the same release',
    source: {
      from: 'go',
      folder: 'vcluster',
      programs: { vcluster: './cmd/vcluster', 'vcluster-cli': './cmd/vclusterctl' },
      copyOf: 'github.com/loft-sh/vcluster',
      keep: { of: 'github.com/loft-sh/vcluster', folders: ['chart'] },
      cgo: true,
      ldflags: [`-X main.version=${vclusterVersion}`, `-X github.com/loft-sh/vcluster/pkg/telemetry.SyncerVersion=${vclusterVersion}`],
    },
    check: ['bin/vcluster', 'bin/vcluster-cli', 'keep/chart/Chart.yaml'],
  },
  {
    name: 'vcluster-images',
    version: vclusterVersion,
    about: 'vcluster’s syncer and Kubernetes images',
    source: { from: 'image', recipe: 'vcluster-images', inputs: ['archive.ts', 'slim-root.ts', 'vcluster-images.ts'] },
    needs: ['vcluster', 'kine', 'helm', 'kubernetes', 'node-rootfs'],
    check: ['image.tar'],
  },
  {
    name: 'kubernetes-previous',
    ...kubernetes(previousKubernetesVersion),
    about: 'the minor before, so that upgrades can be tested',
  },
  {
    name: 'node-image-previous',
    version: previousKubernetesVersion,
    about: 'the same machine, one minor older',
    source: { from: 'image', recipe: 'node-image-previous', inputs: nodeInputs },
    needs: ['kubernetes-previous', 'etcd', 'docker', 'coredns', 'small-programs', 'local-path-provisioner', 'crictl', 'node-rootfs'],
    check: ['image.tar'],
  },
  {
    name: 'services',
    version: 'bookworm',
    about: 'Redis, OpenSSH server, haproxy',
    source: { from: 'apt', packages: ['redis-server', 'openssh-server', 'haproxy'] },
    check: ['/usr/bin/redis-server', '/usr/sbin/sshd', '/usr/sbin/haproxy'],
  },
  {
    name: 'workspace-rootfs',
    version: 'forky',
    about: 'the newer Debian that ttyd needs',
    source: { from: 'rootfs', suite: 'forky', packages: workspacePackages },
    needs: ['host-tools'],
    check: ['rootfs/usr/bin/ttyd', 'layer.tar'],
  },
  {
    name: 'workspace-image',
    version: '1',
    about: 'bash, git, curl, kubectl, ttyd: where a student’s shell runs',
    source: { from: 'image', recipe: 'workspace-image', inputs: ['archive.ts', 'workspace-image.ts'] },
    needs: ['workspace-rootfs', 'kubernetes'],
    check: ['image.tar'],
  },
  {
    name: 'upstream-e2e',
    version: kubernetesVersion,
    about: 'Kubernetes’ own end-to-end specs',
    source: { from: 'go', folder: 'kubernetes-1.35', programs: { 'e2e.test': 'k8s.io/kubernetes/test/e2e' }, mode: 'test' },
    check: ['bin/e2e.test'],
    optional: true,
  },
  {
    name: 'chromium',
    version: 'bookworm',
    about: 'the browser of the console’s tests',
    source: { from: 'apt', packages: ['chromium'] },
    check: ['/usr/bin/chromium'],
    optional: true,
  },
];

export function partNamed(name: string): Part {
  const part = catalog.find((candidate) => candidate.name === name);
  if (!part) throw new Error(`the bed has no part named ${name}; it has: ${catalog.map((p) => p.name).join(', ')}`);
  return part;
}

/** The parts asked for and all they need, in catalog order, which is also a valid build order. */
export function closure(names: readonly string[]): Part[] {
  const wanted = new Set<string>();
  const visit = (name: string): void => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const need of partNamed(name).needs ?? []) visit(need);
  };
  for (const name of names) visit(name);
  return catalog.filter((part) => wanted.has(part.name));
}
