"""Sessions of any protocol: keys, paths, failover, tables; what the protocols of the edge have in common."""
