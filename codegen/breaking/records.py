"""What changed of the members that records have."""

from collections.abc import Iterator

from ..model import Record, Schema
from ..rules.problem import Problem
from .models import both, by_name
from .pairs import Models


def records(schema: Schema) -> tuple[Record, ...]:
    return schema.records


def removed_members(models: Models) -> Iterator[Problem]:
    """Members that a record of both sides has no more."""
    for old, new in both(models, records):
        after = by_name(new.members)
        for member in old.members:
            if member.name not in after:
                yield Problem(new.at, f"The record `{new.name}` has no `{member.name}` any more.")


def added_members(models: Models) -> Iterator[Problem]:
    """Members that whoever makes a record of both sides must give now."""
    for old, new in both(models, records):
        before = by_name(old.members)
        for member in new.members:
            if member.name not in before:
                message = (
                    f"The record `{new.name}` has a new member `{member.name}`: "
                    "whoever makes one must give it."
                )
                yield Problem(member.at, message)
