"""The controller's local HTTP API: what the commands, the labs and other programs ask."""
