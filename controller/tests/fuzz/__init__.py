"""Genuine messages with mistakes in them, for all that reads octets of others."""
