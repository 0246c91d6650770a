"""First-hop security: what hosts behind a port may say of themselves and of others."""
