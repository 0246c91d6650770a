"""Linux beside the switch, in namespaces: what it forwards, and what reaches it."""
