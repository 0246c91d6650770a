"""Translation at a site's border: a provider for each flow, its prefix for that of the inside."""
