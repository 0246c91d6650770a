#!/usr/bin/env bash
# upgrade_under_systemd.sh DEB CHECKOUT: boots systemd as process 1 of namespaces of its own, installs the package there as an operator
# does, and upgrades it to a package of a higher version while a host sends to another one through the edge. Status 77: it cannot boot here.
# Run it below `unshare --mount --pid --fork`.
set -euo pipefail
deb=$(realpath "$1") checkout=$(realpath "$2") here=$(dirname "$(realpath "$0")")
. "$here/root.sh"
mount -t proc proc /proc

# What systemd makes of services' processes are control groups, below one that is its root. They are no mounts: they are to be removed.
groups=$top/groups
mkdir "$groups"
mount -t cgroup2 cgroup2 "$groups" && group=$(mktemp -d "$groups/wayname-XXXXXX") || { echo "no control groups (version 2) to make"; exit 77; }
unshared=
clean_up() {
    [ -z "$unshared" ] || { kill -9 "$unshared" && wait "$unshared"; } 2> /dev/null || true
    for _ in $(seq 100); do grep -rq . --include cgroup.procs "$group" || break; sleep 0.1; done
    find "$group" -depth -type d -exec rmdir {} \; 2> /dev/null || true
}
trap clean_up EXIT

# Of this machine's units none but ours starts, and nothing that sets up the kernel or its devices.
rm -rf "$root"/etc/systemd/system/* "$root"/var/lib/systemd/deb-systemd-helper-enabled
# Images of containers keep packages from starting services. Pages of manuals are sorted for nobody here.
rm -f "$root/usr/sbin/policy-rc.d" "$root/var/lib/man-db/auto-update"
mkdir -p "$root/run/systemd/system"
for unit in systemd-udevd systemd-udev-trigger systemd-sysctl systemd-modules-load systemd-binfmt systemd-timesyncd systemd-remount-fs \
    systemd-random-seed systemd-tmpfiles-setup systemd-tmpfiles-setup-dev systemd-update-utmp kmod-static-nodes; do
    ln -s /dev/null "$root/run/systemd/system/$unit.service"
done
for unit in systemd-udevd-control.socket systemd-udevd-kernel.socket dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount \
    sys-kernel-tracing.mount sys-fs-fuse-connections.mount sys-kernel-config.mount proc-sys-fs-binfmt_misc.automount; do
    ln -s /dev/null "$root/run/systemd/system/$unit"
done
add_hosts
cat > "$root/var/tmp/boot" << 'END'
mount -t proc proc /proc
mount -t sysfs -o ro sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no
END
(
    echo $BASHPID > "$group/cgroup.procs"
    exec nsenter --net=/run/netns/edge unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --propagation private \
        "${clean[@]}" container=other chroot "$root" sh /var/tmp/boot
) > "$top/console" 2>&1 &
unshared=$!
for _ in $(seq 600); do
    booted=$(pgrep --parent $unshared --exact systemd) && break
    kill -0 $unshared || { cat "$top/console"; exit 77; }
    sleep 0.1
done
within() { nsenter --target "$booted" --mount --pid --net --uts --ipc --cgroup --root --wd "${clean[@]}" "$@"; }
for _ in $(seq 600); do within systemctl is-active --quiet basic.target 2> /dev/null && break; sleep 0.1; done
within systemctl --version | head -1

main_pid() { within systemctl show --value --property MainPID "$1"; }
fails() { echo "$1"; within wayname drops; within journalctl --no-pager --lines 100; exit 1; }
within dpkg --install "/var/tmp/$(basename "$deb")"
configure
within systemctl start wayname || fails "it did not start"
within wayname status --wait --timeout 120 || fails "it is not ready"
switch=$(main_pid wayname-switch) controller=$(main_pid wayname)

# The same files with a higher version: what dpkg does with them is what counts.
next=$root/var/tmp/next
dpkg-deb --raw-extract "$deb" "$next"
sed -i 's/^Version: .*/&+next/' "$next/DEBIAN/control"
dpkg-deb -Znone --build "$next" "$next.deb" > /dev/null

# Packets before, while and after; the first one waits for the hosts to be found.
ip netns exec one ping -q -c 3 -W 10 2001:db8:2::11 > "$top/pings"
mkfifo "$top/until"
python3 "$here/numbered.py" two one 2001:db8:2::11 < "$top/until" > "$top/packets" &
sends=$!
exec 9> "$top/until"
sleep 1
within dpkg --install /var/tmp/next.deb > "$top/upgrade" 2>&1 9>&- || fails "$(cat "$top/upgrade")"
sleep 5
exec 9>&-
wait $sends
cat "$top/packets"
cat "$top/upgrade"
within wayname status --wait --timeout 120 || fails "it is not ready after the upgrade"
for service in wayname-switch wayname; do
    within systemctl show --property Id,ActiveState,MainPID,NRestarts "$service"
done
# systemd follows the process that took over; the old one is gone, and no other is left.
[ "$(main_pid wayname-switch)" != "$switch" ] && [ "$(main_pid wayname)" != "$controller" ] || fails "the upgrade started nothing anew"
[ "$(main_pid wayname-switch)" = "$(within pidof wayname-switch)" ] || fails "systemd does not follow: $(within pidof wayname-switch)"
within dpkg-query --show wayname
within dpkg --purge wayname
! within pidof wayname-switch || fails "it runs without its package"
