# Starts k3s, or starts it again ($4 = restart). $5: systemd or process. Comes back at once.
is_owner || exit 77
rm -f "$home/stopped"
if [ "$5" = systemd ]; then
  systemctl daemon-reload
  systemctl enable --quiet "$unit"
  systemctl reset-failed "$unit" 2>/dev/null
  exec systemctl "$4" --no-block "$unit"
fi
[ "$4" = restart ] && servers | while read -r pid; do kill "$pid" 2>/dev/null; done
keeper=$(cat "$home/supervisor.pid" 2>/dev/null)
if [ -n "$keeper" ] && command_of "$keeper" | grep -qF "$home/supervise"; then exit 0; fi
cd /
set -- /bin/sh "$home/supervise" "$home" "$id" "$data"
if has setsid; then setsid "$@" </dev/null >/dev/null 2>&1 & else nohup "$@" </dev/null >/dev/null 2>&1 & fi
