"""A fleet on a virtual clock: controllers as they run live, etcd and a switch in memory, and networks that fail."""
