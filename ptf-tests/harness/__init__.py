"""What the PTF tests stand on: targets, entries that clean up after themselves, and how to know that nothing comes."""
