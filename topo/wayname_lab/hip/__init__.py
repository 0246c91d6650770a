"""HIP hosts of a lab: the stack of `wayname-host` knows HITs alone, and what it sends leaves encrypted (RFC 7402)."""
