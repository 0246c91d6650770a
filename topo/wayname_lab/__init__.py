"""Labs: small networks of hosts, edges and providers, as data, and three ways to run them."""
