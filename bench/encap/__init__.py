"""The fourth paper's figure: what encapsulation costs by size."""
