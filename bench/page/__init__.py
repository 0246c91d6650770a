"""The live page under load: what it costs the controller, and whether a browser keeps up."""
