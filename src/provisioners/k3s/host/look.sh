# What there is on the machine, one fact a line; texts of several lines in base64.
fact() { [ -z "$2" ] || printf '%s %s\n' "$1" "$2"; }
text() { [ ! -s "$2" ] || printf '%s %s\n' "$1" "$(base64 <"$2" | tr -d '\n')"; }

lock
processes=$(named)
fact uid "$(id -u)"
fact os "$(uname -s)"
fact arch "$(uname -m)"
has_systemd && fact systemd yes
fact owner "$(cat "$home/owner.json" 2>/dev/null)"
foreign | while read -r line; do fact foreign "$line"; done
fact binary "$(cat "$home/bin/k3s.sha256" 2>/dev/null)"
# Whole files only: what is on its way ends in .part.
fact brought "$(ls "$home/bin" "$data/agent/images" 2>/dev/null | grep -v '\.part$' | tr '\n' ' ')"
fact applied "$(cat "$home/applied" 2>/dev/null)"
[ -e "$home/stopped" ] && fact stopped yes
fact server "$(servers | head -n 1)"
fact shims "$(ours | grep -c 'containerd-shim')"
if [ -f "$units/$unit" ] && has_systemd; then
  systemctl show "$unit" -p ActiveState -p NRestarts | sed 's/=/ /'
  lines=$(journalctl -u "$unit" -n 40 -o cat --no-pager 2>/dev/null)
  [ -z "$lines" ] || printf 'log %s\n' "$(printf '%s' "$lines" | base64 | tr -d '\n')"
else
  keeper=$(cat "$home/supervisor.pid" 2>/dev/null)
  if [ -n "$keeper" ] && command_of "$keeper" | grep -qF "$home/supervise"; then
    fact ActiveState active
  fi
  fact NRestarts "$(cat "$home/restarts" 2>/dev/null)"
  if [ -s "$home/k3s.log" ]; then printf 'log %s\n' "$(tail -n 40 "$home/k3s.log" | base64 | tr -d '\n')"; fi
fi
text kubeconfig "$home/kubeconfig"
