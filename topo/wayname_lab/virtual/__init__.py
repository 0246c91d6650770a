"""Labs on a virtual clock: all switches, links, hosts and controllers in one process, the same for the same seed."""
