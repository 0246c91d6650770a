#!/usr/bin/env bash
# edge_in_root.sh DEB CHECKOUT: installs the package where nothing else of Wayname is, starts both services as their units say,
# and lets a host ping another one through the edge. All of it is gone afterwards: run it below `unshare --mount --pid --fork`.
set -euo pipefail
deb=$(realpath "$1") checkout=$(realpath "$2") here=$(dirname "$(realpath "$0")")

. "$here/root.sh"
cp "$here/start_unit.py" "$root/var/tmp/"

within() { "${clean[@]}" chroot "$root" "$@"; }
within dpkg --install "/var/tmp/$(basename "$deb")"
within wayname --version

add_hosts
configure
within systemd-tmpfiles --create wayname.conf

# Starts the service of a unit, and prints its pid.
start() {
    nsenter --net=/run/netns/edge "${clean[@]}" chroot "$root" python3 /var/tmp/start_unit.py /usr/lib/systemd/system/$1.service /var/tmp/$1.log \
        || { cat "$root/var/tmp/$1.log" >&2; exit 1; }
}
switch=$(start wayname-switch)
controller=$(start wayname)
# The controller sets the pipeline, which the switch compiles.
for _ in $(seq 600); do
    within wayname status > "$root/var/tmp/status" 2>&1 && break
    sleep 0.2
done
cat "$root/var/tmp/status"
ping_two() { ip netns exec one ping -c 3 -i 0.3 -W 10 2001:db8:2::11 || { cat "$root"/var/tmp/wayname*.log; exit 1; }; }
ping_two

# What systemd does at a reload: the switch that is installed takes over, and no ping is lost.
ip netns exec one ping -q -c 60 -i 0.05 -W 10 2001:db8:2::11 > "$top/pings" &
pings=$!
kill -HUP "$switch"
while kill -0 "$switch" 2> /dev/null; do sleep 0.05; done
switch=$(basename "$(dirname "$(grep -lx wayname-switch "$root"/proc/[0-9]*/comm)")")
wait $pings || true
cat "$top/pings"

# A switch that starts again forwards as before, without a controller. A killed one has its socket until it is gone, and
# systemd waits for that too.
kill -9 "$controller" "$switch"
while kill -0 "$controller" 2> /dev/null || kill -0 "$switch" 2> /dev/null; do sleep 0.05; done
switch=$(start wayname-switch)
ping_two
kill "$switch"
within dpkg --purge wayname
# What an operator wrote stays, and nothing else.
within sh -c '! find /usr/lib/wayname /etc/wayname /var/lib/wayname /var/lib/wayname-switch -type f ! -name edge.toml 2> /dev/null | grep .'
