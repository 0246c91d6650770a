"""Experiments of the HIP multipath paper: one TCP connection over several paths."""
