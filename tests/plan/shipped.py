"""Sessions of schemas, planned."""

from codegen.model import Schema
from codegen.plan.session import FieldBytes, SessionBytes
from codegen.plan.setting import settings_of

from ..page.conftest import everything, loaded, shipped

__all__ = ["everything", "field_of", "loaded", "planned", "shipped", "schema_of"]


def schema_of(model: str) -> Schema:
    return next(one for one in shipped() if one.model == model)


def planned(schema: Schema, *texts: str, steps: int | None = None) -> SessionBytes:
    """One session at shipped values, apart from NAME=VALUE texts."""
    return SessionBytes(schema, settings_of([schema], texts, steps)[schema.model])


def field_of(one: SessionBytes, name: str) -> FieldBytes:
    return next(field for field in one.fields if field.name == name)
