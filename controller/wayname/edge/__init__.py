"""The controller of one switch without sockets, clock or randomness of its own; `boundary` is all that crosses."""
