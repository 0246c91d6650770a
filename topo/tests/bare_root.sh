#!/usr/bin/env bash
# bare_root.sh DEB CHECKOUT: a shell in this system as it is, but with the package installed and without the checkout. What it
# writes goes to memory; run it where mounts are nobody else's.
set -euo pipefail
deb=$1 checkout=$2
. "$(dirname "$(realpath "$0")")/../../controller/packages/tests/root.sh"
mount --rbind /sys "$root/sys"
chroot "$root" dpkg --install "/var/tmp/$(basename "$deb")"
exec "${clean[@]}" HOME=/root chroot "$root" bash --noprofile --norc -c 'cd && exec bash --noprofile --norc'
