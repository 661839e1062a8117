"""A first schema from a hand-written state class, read by its source alone and never imported."""

from .command import drafted as drafted
