"""What the controller knows of the P4 program: its schema, its entries, its reasons in words."""
