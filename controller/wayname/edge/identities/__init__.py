"""Identities that hosts get from their edge, which holds the key that proves them."""
