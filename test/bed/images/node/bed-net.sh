#!/bin/sh
# The pod network of one node: writes the CNI configuration for the node's own pod range, keeps a route to every other
# node's range, and hides pods behind the node's address for everything outside the cluster.
set -u
config=/etc/cni/net.d/10-bed.conflist
list='{range .items[*]}{.metadata.name}{" "}{.spec.podCIDR}{" "}{.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}'

apply() {
  iptables -w -t nat -N BED-MASQ 2>/dev/null
  iptables -w -t nat -C POSTROUTING -j BED-MASQ 2>/dev/null || iptables -w -t nat -A POSTROUTING -j BED-MASQ
  rules="*nat
-F BED-MASQ"
  own=
  while read -r name range address _; do
    [ -n "${address:-}" ] || continue
    rules="$rules
-A BED-MASQ -d $range -j RETURN"
    if [ "$name" = "$NODE_NAME" ]; then
      own=$range
    else
      ip route replace "$range" via "$address"
    fi
  done < /tmp/nodes
  [ -n "$own" ] || return 1
  printf '%s\n-A BED-MASQ -s %s -m addrtype ! --dst-type LOCAL -j MASQUERADE\nCOMMIT\n' "$rules" "$own" | iptables-restore -w --noflush || return 1
  cat > "$config.new" <<JSON
{"cniVersion":"0.4.0","name":"bed","plugins":[
 {"type":"ptp","ipMasq":false,"mtu":1500,"ipam":{"type":"host-local","dataDir":"/run/bed-net","routes":[{"dst":"0.0.0.0/0"}],"ranges":[[{"subnet":"$own"}]]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
JSON
  cmp -s "$config.new" "$config" && rm -f "$config.new" || mv "$config.new" "$config"
}

trap 'exit 0' TERM INT
echo 1 > /proc/sys/net/ipv4/ip_forward
while :; do
  if kubectl get nodes -o "jsonpath=$list" > /tmp/nodes.new 2>/tmp/error; then
    # Routes only change when nodes come, go or move.
    if ! cmp -s /tmp/nodes.new /tmp/nodes; then
      cp /tmp/nodes.new /tmp/nodes
      if apply; then echo "applied:"; cat /tmp/nodes; else rm -f /tmp/nodes; fi
    fi
    # A node that is waiting for the second one must not wait long; a settled cluster should cost nothing.
    [ -f "$config" ] && pause=5 || pause=1
  else
    cat /tmp/error >&2
    pause=1
  fi
  sleep "$pause" & wait $!
done
