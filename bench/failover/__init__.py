"""One cut, and what it costs applications over TCP, MPTCP and edges."""
