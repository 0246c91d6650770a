"""What Linux beside the switch says, in the tables."""
