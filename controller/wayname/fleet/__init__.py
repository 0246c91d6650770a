"""Several controllers with one truth in etcd: who controls which switch, and what a successor has to know."""
