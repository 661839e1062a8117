"""Staged fields: what is committed together, and what an exception brings back."""
