"""Tracks providers beyond their first hop: targets are asked through each, and say whether it is up."""
