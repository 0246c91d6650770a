"""What HIP hosts encrypt their packets with: ESP in BEET mode (RFC 7402), without I/O, clock or randomness of its own.

Only hosts seal packets; the edge's tables know SPIs alone. It stands beside HIP all the same: hosts agree on suites and
draw keys in HIP's messages, and the edge reads those.
"""
