"""Addresses that prove themselves: cryptographically generated ones and hash-based ones."""
