"""Typed view objects in, text out: generated modules and the decision table."""
