"""Hosts that speak ILNP themselves, and what the lab's DNS server tells of them."""
