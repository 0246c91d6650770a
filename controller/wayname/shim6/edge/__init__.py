"""Sessions: the edge speaks Shim6 for hosts that do not (docs/shim6.md)."""
