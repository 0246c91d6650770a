# Sourced by scripts that run below `unshare --mount` and have $deb and $checkout: a root where nothing else of Wayname is, at $root, and
# an edge's site. All of it is gone when the mounts are.

# This system as it is, with another layer above it, without the checkout.
top=$(mktemp -d)
mount -t tmpfs tmpfs "$top"
mkdir "$top"/{above,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$top/above,workdir=$top/work" "$top/root"
root=$top/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
cp "$deb" "$root/var/tmp/"
mkdir -p "$root$checkout"
mount -t tmpfs tmpfs "$root$checkout"
clean=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8)

# Two hosts, `one` and `two`, each on a port of its own of the namespace `edge`.
add_hosts() {
    mount -t tmpfs tmpfs /run
    for name in edge one two; do ip netns add $name; ip -n $name link set lo up; done
    for number in 1 2; do
        name=$([ $number = 1 ] && echo one || echo two)
        ip -n edge link add port$number type veth peer name eth0 netns $name
        ip -n edge link set port$number up
        ip -n $name link set eth0 up
        ip -n $name address add 2001:db8:$number::11/64 dev eth0 nodad
        ip -n $name route add default via 2001:db8:$number::1
        ip netns exec edge sysctl -qw net.ipv6.conf.port$number.disable_ipv6=1
    done
}

# What an operator writes, once the package is there.
configure() {
    echo 'PORTS=-i 1@port1 -i 2@port2' > "$root/etc/wayname/switch.env"
    cat > "$root/etc/wayname/edge.toml" << END
[switch]
address = "unix:/run/wayname-switch/p4runtime"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
END
}
