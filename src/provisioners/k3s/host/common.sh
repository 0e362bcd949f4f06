# Begins every script that runs on a machine with k3s. $1: our folder on it, $2: the owner's id, $3: k3s's data folder.
# POSIX sh; needs nothing that a Linux machine without packages does not have (GNU or busybox tools alike).
home=$1 id=$2 data=$3
unit=rookery-k3s.service
units=/etc/systemd/system
# k3s brings tools of its own for hosts that have none.
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$data/data/current/bin:$data/data/current/bin/aux
export PATH
# Links, folders and chains that k3s makes under the same names on every host.
links='cni0 flannel.1 flannel-v6.1 flannel-wg flannel-wg-v6 kube-ipvs0 nodelocaldns'
folders="/etc/rancher/node /etc/rancher/k3s /etc/rancher /var/lib/kubelet /var/lib/cni /run/k3s /run/flannel
/var/log/pods /var/log/containers /usr/libexec/kubernetes /var/lib/rancher"
chains='KUBE-|CNI-|FLANNEL-'
# Folders that k3s's containerd shares with any other one, deepest first.
shared='/run/containerd/runc/k8s.io /run/containerd/runc /run/containerd/s /run/containerd /run/nri/nri.sock /run/nri /run/netns'

has() { command -v "$1" >/dev/null 2>&1; }
# A script goes on when the Rookery that began it dies. Whoever looks next waits for it, or it would find the machine
# free that is being claimed. The folder is there on every machine, so that nothing is left of the lock.
lock() { if has flock; then exec 9</var/lib && flock -w 30 9; fi; }
has_systemd() { [ -d /run/systemd/system ] && has systemctl; }
is_owner() { [ -f "$home/owner.json" ] && grep -qF "\"id\":\"$id\"" "$home/owner.json"; }
# Was it there before we came? Then it is not ours.
was() { grep -qxF "$1 $2" "$home/before.$id" 2>/dev/null; }
firewalls() {
  for tool in iptables ip6tables iptables-legacy ip6tables-legacy; do has "$tool-save" && has "$tool-restore" && echo "$tool"; done
}
mounts() { while read -r _ where _; do printf '%b\n' "$where"; done </proc/self/mounts; }
command_of() { tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline"; }
is_ours() {
  case "$(readlink "/proc/$1/exe" 2>/dev/null)" in "$home"/bin/* | "$data"/data/*) return 0 ;; esac
  command_of "$1" | grep -qE "(^| )/run/k3s/containerd/|$home/"
}
# Processes that could be k3s's or another cluster's: "pid name" each. One in a container has a kubelet of its own, and that is none of
# this machine's business. A script that looks more than once sets `processes` to what it found first.
named() {
  [ -z "${processes+known}" ] || { echo "$processes"; return; }
  namespace=$(readlink /proc/self/ns/pid)
  for file in /proc/[0-9]*/comm; do
    read -r comm 2>/dev/null <"$file" || continue
    case "$comm" in kubelet | k3s* | rke2* | k0s* | containerd*) ;; *) continue ;; esac
    pid=${file#/proc/}
    pid=${pid%/comm}
    [ "$(readlink "/proc/$pid/ns/pid" 2>/dev/null)" = "$namespace" ] && echo "$pid $comm"
  done
}
# k3s, its containerd and the shims of its pods.
ours() {
  named | while read -r pid comm; do
    case "$comm" in k3s* | containerd*) is_ours "$pid" && echo "$pid $comm" ;; esac
  done
}
# The server itself; its containerd may be the same program under another name.
servers() {
  ours | while read -r pid comm; do
    case "$comm" in k3s*) command_of "$pid" | grep -q ' server ' && echo "$pid" ;; esac
  done
}
# Anything that makes this machine a node of another cluster. An installed kubelet is none; one that runs or is configured is.
foreign() {
  named | while read -r pid comm; do
    case "$comm" in
      kubelet) ;;
      containerd*) continue ;;
      # Not a client such as `k3s kubectl`.
      *) command_of "$pid" | grep -qE ' (server|agent|controller|worker)( |$)' || continue ;;
    esac
    is_ours "$pid" && continue
    # One that has ended, and perhaps not been waited for, has no program any more.
    [ -z "$(readlink "/proc/$pid/exe")" ] || echo "the process $comm ($pid) runs on it"
  done
  for file in /var/lib/kubelet/config.yaml /etc/kubernetes/kubelet.conf /etc/kubernetes/admin.conf; do
    [ -e "$file" ] && echo "it is a node of kubeadm or the like: $file"
  done
  for file in "$units"/k3s*.service "$units"/rke2*.service "$units"/k0s*.service /etc/init.d/k3s*; do
    [ -e "$file" ] && echo "another installation has a service: $file"
  done
  # Our k3s leaves a link to its kubeconfig there.
  file=/etc/rancher/k3s/k3s.yaml
  if [ -e "$file" ] && [ "$(readlink "$file")" != "$home/kubeconfig" ]; then echo "another k3s has been started: $file"; fi
  if [ ! -e "$data/.rookery-owner" ] && [ -n "$(ls -A "$data" 2>/dev/null)" ]; then
    echo "the data folder $data is not empty"
  fi
}
