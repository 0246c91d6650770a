"""In-situ OAM: what packets carry of it, and what it tells of paths. No sockets, clocks or switches in here."""
