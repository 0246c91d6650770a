"""ILNP: identifiers and locators apart (RFC 6740), with a cache of sessions that only a handshake fills."""
