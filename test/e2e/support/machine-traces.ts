// What a machine has that it did not have before: processes, mounts, links, network namespaces, firewall rules, sets, cgroups, files.
import type { K3sMachine } from './k3s-machine.ts';

/** One line for everything that k3s could leave. Files are looked for where it writes, names of pods' processes by their cgroup. */
const LIST = `
for file in /proc/[0-9]*/comm; do
  read -r name 2>/dev/null <$file || continue
  case $name in k3s* | containerd* | kubelet | pause | coredns | local-path*) echo "process $name" ;; esac
done
grep -lE ':/kubepods' /proc/[0-9]*/cgroup 2>/dev/null | sed 's/^/process in a pod: /'
cut -d ' ' -f 2 /proc/mounts | sed 's/^/mount /'
ls /sys/class/net | sed 's/^/link /'
ls /run/netns 2>/dev/null | sed 's/^/netns /'
for tool in iptables ip6tables; do $tool-save 2>/dev/null | grep -E '^-A|^:(KUBE|CNI|FLANNEL)' | sed "s/^/$tool /; s/ \\[.*//"; done
ipset list -n 2>/dev/null | sed 's/^/ipset /'
find /sys/fs/cgroup -maxdepth 2 -name 'kubepods*' | sed 's/^/cgroup /'
find /etc /usr /opt /var/lib /var/log /run -not -path '/run/systemd/*' -not -path '/run/user*' -not -path '/var/log/journal/*' \
  -not -path '/run/log/*' -not -path '/run/udev/*' 2>/dev/null | sed 's/^/file /'`;

/** Made by sshd, by mount and by Rookery's own log, not by k3s. */
const OTHERS =
  /^file \/run\/(motd\.dynamic|mount(\/.*)?|sshd\.pid|utmp)$|^file \/var\/log\/(rookery\.log|lastlog|wtmp|btmp)$/;

export class Traces {
  readonly #machine: K3sMachine;
  readonly #before: Set<string>;

  private constructor(machine: K3sMachine, before: Set<string>) {
    this.#machine = machine;
    this.#before = before;
  }

  static async of(machine: K3sMachine): Promise<Traces> {
    return new Traces(machine, new Set((await machine.sh(LIST)).split('\n')));
  }

  async left(): Promise<string[]> {
    const now = (await this.#machine.sh(LIST)).split('\n');
    return [...new Set(now.filter((line) => line && !this.#before.has(line) && !OTHERS.test(line)))];
  }
}
