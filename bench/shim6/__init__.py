"""Experiments of the first paper: sessions that prove who they are and outlive a provider."""
