"""What a hundred thousand routes of Linux cost an edge: `python -m bench.routes`."""
