"""A fleet under faults on the virtual clock."""
