"""ILNP at the edge: it speaks for hosts that do not, and keeps their sessions on the switch (docs/ilnp.md)."""
