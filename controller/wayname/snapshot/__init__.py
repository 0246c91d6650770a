"""The controller that runs, and its switch, as they are at one moment: what the API and the metrics tell of."""
