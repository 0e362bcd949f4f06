# Puts a k3s in place that was brought to our folder, or copies one that is on the machine. $4: its SHA-256, $5: where it is on
# the machine, if it is there already. What is replaced is deleted, though it may still run.
set -e
is_owner || exit 77
umask 077
name=k3s-$(echo "$4" | cut -c 1-12)
cd "$home/bin"
if [ ! -f "$name" ] && [ -n "$5" ]; then
  cp "$5" "$name.part"
  [ "$(sha256sum <"$name.part" | cut -d ' ' -f 1)" = "$4" ] || { rm -f "$name.part"; exit 3; }
  mv "$name.part" "$name"
fi
[ -f "$name" ] || exit 4
chmod 0755 "$name"
"./$name" --version >version.new 2>&1 || { cat version.new >&2; exit 5; }
ln -sfn "$name" k3s
mv version.new k3s.version
echo "$4" >k3s.sha256.new
mv k3s.sha256.new k3s.sha256
for other in k3s-*; do [ "$other" = "$name" ] || rm -f "$other"; done
