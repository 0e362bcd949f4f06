# Makes the machine ours before anything else: what is there already is written down, then the owner. $4: the owner as JSON.
# Says whose it is, so that of two who come at once one goes away.
set -e
lock
umask 077
if [ ! -f "$home/owner.json" ]; then
  fresh=$([ -d /var/lib/rookery ] || echo yes)
  mkdir -p -m 0755 /var/lib/rookery
  mkdir -p -m 0711 "$home"
  {
    [ -n "$fresh" ] || echo 'folder /var/lib/rookery'
    for folder in $folders "$data"; do
      [ -e "$folder" ] || continue
      echo "folder $folder"
      for entry in "$folder"/* "$folder"/.[!.]*; do [ -e "$entry" ] && echo "folder $entry"; done
    done
    for folder in $shared; do [ -e "$folder" ] && echo "folder $folder"; done
    mounts | sed 's/^/mount /'
    for file in /run/netns/*; do [ -e "$file" ] && echo "netns ${file##*/}"; done
    for link in $links; do [ -e "/sys/class/net/$link" ] && echo "link $link"; done
    firewalls | while read -r tool; do
      "$tool-save" 2>/dev/null | sed -nE "s/^:(($chains)[^ ]*).*/chain $tool \1/p"
    done
    has ipset && ipset list -n 2>/dev/null | sed 's/^/set /'
    for folder in /sys/fs/cgroup/kubepods* /sys/fs/cgroup/*/kubepods*; do [ -d "$folder" ] && echo "cgroup $folder"; done
  } >"$home/before.$id"
  printf '%s\n' "$4" >"$home/owner.$id"
  # A link is made or not, and of two only one is.
  ln "$home/owner.$id" "$home/owner.json" 2>/dev/null || :
  rm -f "$home/owner.$id"
fi
if is_owner; then
  mkdir -p -m 0755 "$data"
  printf '%s\n' "$id" >"$data/.rookery-owner"
  mkdir -p "$home/bin" "$home/run" "$data/agent/images" "$data/agent/etc/containerd"
else
  rm -f "$home/before.$id"
fi
cat "$home/owner.json"
