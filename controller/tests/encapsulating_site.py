"""An edge between a site and a provider, and what its packets carry."""

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
mtu = 9000
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
name = "up"
addresses = ["2001:db8:100::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
"""
CARRIED = """
[[namespace]]
id = 1
node = 0xABC
ports = [2]
export = true
[[trace]]
name = "all"
namespace = 1
fields = ["node", "seconds", "fraction"]
nodes = 2
[[policy]]
name = "gold"
segments = ["fd00::1", "fd00::2", "fd00::3", "fd00::4", "fd00::5", "fd00::6"]
key_id = 8
key = "secret"
[[policy]]
name = "short"
segments = ["fd00::9"]
[[source_route]]
name = "hops"
hops = ["2001:db8:7::1", "2001:db8:7::2"]
[[vrf_route]]
table = 4
prefix = "2001:db8:1::/64"
via = "site"
[[segment]]
sid = "2001:db8:100:a::1"
behaviour = "end"
flavours = ["psp"]
[[segment]]
sid = "2001:db8:1::d"
behaviour = "end.dt6"
table = 4
[[encapsulation]]
prefix = "2001:db8:5::/48"
policy = "gold"
[[encapsulation]]
prefix = "2001:db8:6::/48"
trace = "all"
mode = "inline"
[[encapsulation]]
prefix = "2001:db8:7::/48"
source_route = "hops"
[[encapsulation]]
prefix = "2001:db8:8::/64"
locator = "2001:db8:5:1::/64"
[[encapsulation]]
prefix = "::/0"
policy = "short"
mode = "reduced"
"""
