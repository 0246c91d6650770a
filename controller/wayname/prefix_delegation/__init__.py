"""DHCPv6 prefix delegation (RFC 8415) as a client, without sockets or clock."""
