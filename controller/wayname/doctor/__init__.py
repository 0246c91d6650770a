"""What a machine lacks to run an edge: each finding says how to mend it."""
