#!/usr/bin/env bash
# bare_root.sh DEB CHECKOUT: a shell in this system as it is, but with the package installed and without the checkout. What it
# writes goes to memory; run it where mounts are nobody else's.
set -euo pipefail
deb=$1 checkout=$2
top=$(mktemp -d)
mount -t tmpfs tmpfs "$top"
mkdir "$top"/{above,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$top/above,workdir=$top/work" "$top/root"
root=$top/root
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
cp "$deb" "$root/root/"
mkdir -p "$root$checkout"
mount -t tmpfs tmpfs "$root$checkout"
chroot "$root" dpkg --install "/root/$(basename "$deb")"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" bash --noprofile --norc -c 'cd && exec bash --noprofile --norc'
