// What Debian packages go into the root file systems.

/** A machine: init, ssh, container runtime, everything that programs a network, and what a person looks for first. */
export const nodePackages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'iptables',
  'nftables',
  'iproute2',
  'conntrack',
  'ipset',
  'ethtool',
  'socat',
  'kmod',
  'mount',
  'procps',
  'hostname',
  'runc',
  'containernetworking-plugins',
  'openssh-server',
  'curl',
  'ca-certificates',
  'sudo',
  'busybox',
  'haproxy',
  'libseccomp2',
  'iputils-ping',
];

/** A student's shell. */
export const workspacePackages = [
  'bash',
  'git',
  'curl',
  'ca-certificates',
  'ttyd',
  'less',
  'vim-tiny',
  'jq',
  'procps',
  'bash-completion',
  'openssh-client',
];
