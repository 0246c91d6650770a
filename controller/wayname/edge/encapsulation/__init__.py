"""What packets carry: its tables, the switch's clock, and traces that end or turn here."""
