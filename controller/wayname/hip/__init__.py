"""HIP: hosts are known by keys and not by where they are (RFC 7401)."""
