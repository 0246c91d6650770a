"""The configuration of one switch: its form (`model`), and how a file becomes one (`load`)."""
