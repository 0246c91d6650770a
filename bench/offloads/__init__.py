"""Rates of hosts that leave segmentation and checksums to their cards, through the switch and through Linux."""
