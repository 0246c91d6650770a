"""Measurements and experiments; each is one make target."""
