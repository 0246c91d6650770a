"""What the live page is told: frames, made once for all pages, each with what changed since the one before it."""
