# After quiet.sh: removes the service and every file, then looks whether anything is left. Ends with 1 when there is.
if [ -f "$units/$unit" ]; then
  rm -f "$units/$unit" "$units/multi-user.target.wants/$unit"
  if has_systemd; then
    systemctl daemon-reload
    systemctl reset-failed "$unit" 2>/dev/null
  fi
  say "service $unit"
fi
has_mounts() { mounts | grep -qF "$1/"; }
# What was there before stays; a folder that something is still mounted in is left as it is.
clear_folder() {
  [ -d "$1" ] || return 0
  for entry in "$1"/* "$1"/.[!.]*; do
    if [ ! -e "$entry" ] && [ ! -L "$entry" ]; then continue; fi
    was folder "$entry" || has_mounts "$entry" || rm -rf "$entry"
  done
  was folder "$1" || { rmdir "$1" 2>/dev/null && say "folder $1"; }
}
if [ "$(cat "$data/.rookery-owner" 2>/dev/null)" = "$id" ]; then
  # The mark goes last: what is left without it would be somebody else's.
  for entry in "$data"/* "$data"/.[!.]*; do
    case "$entry" in */.rookery-owner) continue ;; esac
    [ -e "$entry" ] || continue
    has_mounts "$entry" || rm -rf "$entry"
  done
  if [ -z "$(ls -A "$data" | grep -vx .rookery-owner)" ]; then
    rm -f "$data/.rookery-owner"
    say "data $data"
    was folder "$data" || rmdir "$data" 2>/dev/null
  fi
fi
rm -rf /var/lib/cni/networks/cbr0 /var/lib/cni/results/cbr0-* 2>/dev/null
for folder in $folders; do
  case "$folder" in /var/lib/kubelet | /var/lib/cni | /var/log/* | /usr/libexec/*) [ -z "$has_rival" ] || continue ;; esac
  clear_folder "$folder"
done

left() {
  doomed | while read -r pid; do echo "process $pid"; done
  our_mounts | sed 's/^/mount /'
  for file in /run/netns/cni-*; do
    if [ -e "$file" ] && ! was netns "${file##*/}" && [ -z "$has_rival" ]; then echo "network namespace ${file##*/}"; fi
  done
  for link in $links; do
    if [ -e "/sys/class/net/$link" ] && ! was link "$link" && [ -z "$has_rival" ]; then echo "link $link"; fi
  done
  [ -z "$(ls -A "$data" 2>/dev/null)" ] || was folder "$data" || echo "folder $data"
}
remains=$(left)
[ -z "$remains" ] || { echo "$remains" | sed 's/^/left /'; exit 1; }
