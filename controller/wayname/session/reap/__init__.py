"""Reachability of peers by pairs of locators: REAP (RFC 5534)."""
