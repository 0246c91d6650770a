"""Packets of protocol 140: the messages of Shim6 and REAP, their options, and the payload header."""
