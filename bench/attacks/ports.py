"""Ports of the programs on the hosts."""

ILNP_PORT, BORDER_PORT = 5301, 5302
REQUESTS_PORT, STREAM_PORT, DATAGRAM_PORT = 5001, 5002, 5003
# Where nobody but an attacker sends to.
SPOOFED_PORT = 5999
