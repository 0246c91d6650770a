"""The configuration of a site with two providers, and a prefix inside."""

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[port]]
number = 3
vlan = 200
[[interface]]
vlan = 10
name = "site"
addresses = ["fd12:3456:789a:10::1/64"]
[[interface]]
vlan = 100
addresses = ["2001:db8:0:1::1/64"]
[[interface]]
vlan = 200
addresses = ["2001:db8:0:2::1/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["2001:db8:0:1::2"]
[[provider]]
name = "q"
prefix = "2001:db8:201::/48"
via = ["2001:db8:0:2::2"]
"""
INSIDE = 'inside = "fd12:3456:789a::/48"\n'
