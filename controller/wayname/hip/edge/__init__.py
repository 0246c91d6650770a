"""HIP in the edge: for hosts that know nothing of it, and between those that do."""
