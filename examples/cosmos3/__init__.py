"""Cosmos3 on its generated session class: one shared transformer that borrows its cache."""
