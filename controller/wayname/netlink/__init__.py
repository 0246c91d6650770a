"""What Linux says of its links, addresses, next hops, neighbours and IPv6 routes by netlink."""
