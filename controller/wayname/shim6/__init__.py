"""Shim6: multihoming by locator rewriting below the transport (RFC 5533), and failure detection (RFC 5534)."""
