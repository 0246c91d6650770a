"""The experiments of the paper on ILNP's session cache."""
