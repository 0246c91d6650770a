"""What a session costs a running edge, by how many it has already."""
