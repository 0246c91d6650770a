"""The live page: its files, and the loopback address by which a browser reaches it."""
