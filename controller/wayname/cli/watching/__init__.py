"""`wayname watch`: the frames of the live page on a terminal."""
