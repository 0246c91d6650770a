"""What stands on the wire: pure codecs, which raise `DecodeError` and nothing else on what they are given."""
