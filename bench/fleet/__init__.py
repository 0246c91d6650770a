"""A fleet under faults on the virtual clock, and what it costs by its number of edges."""
