"""How fast the lab hosts' TCP mends losses, beside Linux's."""
