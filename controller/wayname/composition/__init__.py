"""The edge as a whole: its managers, and the session protocols that it speaks."""
