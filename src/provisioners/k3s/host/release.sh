# The last step of a removal: our own folder goes, and with it the claim on the machine.
lock
is_owner || exit 0
# A claim whose Rookery died may have made them again since they were removed.
rm -rf "$data/agent" "$data/.rookery-owner"
was folder "$data" || rmdir "$data" 2>/dev/null
kept=$(was folder /var/lib/rookery && echo yes)
rm -rf "$home"
[ -n "$kept" ] || rmdir /var/lib/rookery 2>/dev/null
[ ! -e "$home" ]
