"""The controller of Wayname's edge switch."""
