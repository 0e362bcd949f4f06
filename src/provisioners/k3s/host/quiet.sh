# Ends everything that k3s runs and takes back what it did to the machine's network; data stays. Each thing removed is a line.
# Never more than ours: processes by their program or their containerd, and nothing that was there before we came.
is_owner || exit 77
say() { echo "removed $*"; }
has_rival=$(foreign | grep -v 'data folder' | head -n 1)
[ -z "$has_rival" ] || echo "what may be another cluster's is left alone: $has_rival"

# What shims leave where those of any other containerd are: by the ids of our pods' containers.
tasks=/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io
end_shims() {
  for folder in "$tasks"/*; do
    [ -d "$folder" ] || continue
    rm -rf "/run/containerd/runc/k8s.io/${folder##*/}"
    cat "$folder/address" "$folder/bootstrap.json" 2>/dev/null | grep -o '/run/containerd/s/[0-9a-f]*' | while read -r socket; do
      rm -f "$socket"
    done
    rm -rf "$folder"
  done
  # Somebody listens there if the kernel knows it.
  if [ -e /run/nri/nri.sock ] && ! was folder /run/nri/nri.sock && ! grep -q ' /run/nri/nri.sock$' /proc/net/unix; then
    rm -f /run/nri/nri.sock
  fi
  for folder in $shared; do was folder "$folder" || rmdir "$folder" 2>/dev/null; done
}

end_processes() {
  : >"$home/stopped"
  if [ -f "$units/$unit" ] && has_systemd; then
    systemctl disable --quiet "$unit" 2>/dev/null
    timeout 45 systemctl stop "$unit" 2>/dev/null || systemctl kill -s KILL "$unit" 2>/dev/null
  fi
  keeper=$(cat "$home/supervisor.pid" 2>/dev/null)
  if [ -n "$keeper" ] && command_of "$keeper" | grep -qF "$home/supervise"; then kill "$keeper"; fi
  rm -f "$home/supervisor.pid" "$home/restarts"
  was_running=$(servers | head -n 1)
  servers | while read -r pid; do kill "$pid" 2>/dev/null; done
  patience=60
  while [ -n "$(servers)" ] && [ "$patience" -gt 0 ]; do sleep 0.25; patience=$((patience - 1)); done
  [ -z "$was_running" ] || say "process k3s ($was_running)"
  rounds=0
  while [ "$rounds" -lt 20 ]; do
    all=$(doomed)
    [ -n "$all" ] || break
    [ "$rounds" -gt 0 ] || say "$(echo "$all" | wc -l | tr -d ' ') processes of containerd and of pods"
    # shellcheck disable=SC2086
    kill -9 $all 2>/dev/null
    sleep 0.25
    rounds=$((rounds + 1))
  done
}
# Ours with all their descendants, and what is left in the cgroups of pods when a shim died before.
doomed() {
  {
    cat /proc/[0-9]*/stat 2>/dev/null | sed -nE 's/^([0-9]+) \(.*\) [A-Za-z] ([0-9]+) .*/\1 \2/p' |
      awk -v roots="$(ours | cut -d ' ' -f 1 | tr '\n' ' ')" '
        BEGIN { count = split(roots, list, " "); for (i = 1; i <= count; i++) mine[list[i]] = 1 }
        { parent[$1] = $2 }
        END {
          do { more = 0; for (pid in parent) if (!(pid in mine) && parent[pid] in mine) { mine[pid] = 1; more = 1 } } while (more)
          for (pid in mine) print pid
        }'
    if [ -z "$has_rival" ]; then
      grep -lE '^[0-9]+:[^:]*:/kubepods(\.slice)?(/|$)' /proc/[0-9]*/cgroup 2>/dev/null | sed -E 's#/proc/([0-9]+)/.*#\1#'
    fi
  } | sort -un | grep -vx "$$"
}

our_mounts() {
  mounts | while read -r where; do
    case "$where" in
      /run/k3s/* | "$data"/* | /run/netns/cni-*) ;;
      /var/lib/kubelet/*) [ -z "$has_rival" ] || continue ;;
      *) continue ;;
    esac
    was mount "$where" || echo "$where"
  done | sort -r
}
end_mounts() {
  count=$(our_mounts | wc -l)
  our_mounts | while read -r where; do timeout 10 umount "$where" 2>/dev/null || umount -l "$where" 2>/dev/null; done
  [ "$count" -eq 0 ] || say "$count mounts"
}

end_network() {
  for file in /run/netns/cni-*; do
    if [ ! -e "$file" ] || was netns "${file##*/}" || [ -n "$has_rival" ]; then continue; fi
    timeout 10 umount "$file" 2>/dev/null || umount -l "$file" 2>/dev/null
    rm -f "$file" && say "network namespace ${file##*/}"
  done
  [ -z "$has_rival" ] || return 0
  for link in $links; do
    if [ -e "/sys/class/net/$link" ] && ! was link "$link"; then ip link delete "$link" && say "link $link"; fi
  done
  firewalls | while read -r tool; do end_rules "$tool"; done
  if has ipset; then
    ipset list -n 2>/dev/null | grep -E '^(inet6:)?KUBE-' | while read -r set; do
      was set "$set" || { ipset destroy "$set" 2>/dev/null && say "ipset $set"; }
    done
  fi
  has nft && for family in ip ip6; do nft delete table "$family" kube-proxy 2>/dev/null && say "nftables table $family kube-proxy"; done
  return 0
}
# One transaction for each table, with nothing but deletions: rules that others add meanwhile stay.
end_rules() {
  for table in filter nat mangle raw; do
    "$1-save" -t "$table" 2>/dev/null | awk -v table="$table" -v prefixes="^($chains)" -v tool="$1" -v before="$home/before.$id" '
      BEGIN { while ((getline line < before) > 0) { split(line, word, " "); if (word[1] == "chain" && word[2] == tool) old[word[3]] = 1 } }
      /^:/ { name = substr($1, 2); if (name ~ prefixes && !(name in old)) mine[name] = 1 }
      /^-A/ { rules[++count] = $0 }
      END {
        for (i = 1; i <= count; i++) {
          split(rules[i], word, " ")
          if (word[2] in mine) continue
          target = ""
          if (match(rules[i], / -[jg] [^ ]+/)) target = substr(rules[i], RSTART + 4, RLENGTH - 4)
          if (target in mine || rules[i] ~ /--comment "?(flanneld|KUBE-ROUTER) /) drop[++drops] = "-D" substr(rules[i], 3)
        }
        chains = 0
        for (name in mine) chains++
        if (drops + chains == 0) exit
        print "*" table
        for (name in mine) print ":" name " - [0:0]"
        for (i = 1; i <= drops; i++) print drop[i]
        for (name in mine) print "-X " name
        print "COMMIT"
        print "# removed " chains " chains and " drops + 0 " rules of " tool " " table
      }' >"$home/rules"
    [ -s "$home/rules" ] || continue
    if "$1-restore" --noflush --wait 10 <"$home/rules"; then sed -n 's/^# //p' "$home/rules"; fi
  done
  rm -f "$home/rules"
}
end_cgroups() {
  [ -z "$has_rival" ] || return 0
  # Where systemd makes them, they are its units, and it would make them again.
  if has_systemd && ! grep -q '^cgroup .*/kubepods.slice$' "$home/before.$id"; then timeout 30 systemctl stop kubepods.slice 2>/dev/null; fi
  for root in /sys/fs/cgroup/kubepods* /sys/fs/cgroup/*/kubepods*; do
    if [ ! -d "$root" ] || was cgroup "$root"; then continue; fi
    find "$root" -depth -type d -exec rmdir {} \; 2>/dev/null
    [ -d "$root" ] || say "cgroup $root"
  done
}

end_processes
end_mounts
end_network
end_shims
end_cgroups
