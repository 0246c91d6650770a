"""The configuration of a router between two networks, each with a host at a port."""

TWO_NETWORKS = """
[[port]]
number = 1
name = "h1"
vlan = 10
[[port]]
number = 2
name = "h2"
vlan = 20
[[interface]]
vlan = 10
mac = "02:00:00:00:00:0a"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
mac = "02:00:00:00:00:14"
addresses = ["2001:db8:2::1/64"]
"""
