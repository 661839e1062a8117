"""The keys of a schema in their canonical order, and everything else as its author wrote it."""

from .file import formatted as formatted
