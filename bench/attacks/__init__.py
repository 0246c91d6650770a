"""Floods and forgeries against a live edge, and what legitimate users saw meanwhile."""
