"""`python -m wayname` is `wayname`."""

from wayname.cli import main

main()
