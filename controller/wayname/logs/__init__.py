"""What the controller tells while it runs: log lines, and events that are kept to be asked for."""
