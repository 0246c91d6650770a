"""What providers say of themselves: the prefixes that they delegate, and their routers."""
