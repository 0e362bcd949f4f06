# Keeps k3s running on a machine without systemd: started again after it ended, later each time it ends early. A supervisor that
# was killed leaves k3s running, and the next one takes it over. Ends when the file `stopped` appears.
umask 077
echo $$ >"$home/supervisor.pid"
export PATH="$PATH:/opt/cni/bin:/usr/lib/cni"
delay=1
restarts=0
while [ ! -e "$home/stopped" ]; do
  pid=$(servers | head -n 1)
  began=$(date +%s)
  if [ -z "$pid" ]; then
    "$home/bin/k3s" server --config "$home/config.yaml" >>"$home/k3s.log" 2>&1 </dev/null &
    pid=$!
  fi
  while kill -0 "$pid" 2>/dev/null; do
    [ -e "$home/stopped" ] && exit 0
    sleep 1
    # Opened for appending, so it goes on at the beginning.
    if [ "$(wc -c <"$home/k3s.log" 2>/dev/null || echo 0)" -gt 20000000 ]; then
      tail -c 1000000 "$home/k3s.log" >"$home/k3s.log.1"
      : >"$home/k3s.log"
    fi
  done
  restarts=$((restarts + 1))
  echo "$restarts" >"$home/restarts"
  if [ $(($(date +%s) - began)) -gt 30 ]; then delay=1; fi
  [ -e "$home/stopped" ] || sleep "$delay"
  delay=$((delay * 2))
  [ "$delay" -gt 60 ] && delay=60
done
