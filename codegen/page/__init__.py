"""The page to audit: every decision, its bytes at any configuration, and what depends on what."""
