"""The Host Identity Protocol, version 2 (RFC 7401), with ESP (RFC 7402), mobility (RFC 8046) and names (RFC 8005)."""
