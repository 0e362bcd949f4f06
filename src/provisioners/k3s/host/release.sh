# The last step of a removal: our own folder goes, and with it the claim on the machine.
is_owner || exit 0
kept=$(was folder /var/lib/rookery && echo yes)
rm -rf "$home"
[ -n "$kept" ] || rmdir /var/lib/rookery 2>/dev/null
[ ! -e "$home" ]
