"""An edge for an hour under drawn faults, and for a day on the virtual clock: `python -m bench.soak`."""
