"""One generated module: the view object of its template, made from the schema."""

from collections.abc import Iterator

from attrs import frozen

from ..model import Schema
from . import methods
from .axes import axis_constants
from .fields import field_declaration, param_declaration
from .imports import import_block
from .literals import docstring, string
from .methods import Method
from .records import record_class
from .templates import render


@frozen
class ModuleView:
    axes: tuple[str, ...]
    records: tuple[str, ...]
    class_name: str
    tag: str
    docstring: str
    declarations: tuple[str, ...]
    methods: tuple[Method, ...]


def module(schema: Schema) -> str:
    """The text of `generated/<model>.py`, below its head."""
    view = ModuleView(
        axes=axis_constants(schema),
        records=tuple(record_class(schema, record) for record in schema.records),
        class_name=schema.class_name,
        tag=string(f"{schema.model} {schema.sha256[:16]}"),
        docstring=docstring(schema.doc, 4),
        declarations=(
            *(param_declaration(schema, param) for param in schema.params),
            *(field_declaration(schema, field) for field in schema.fields),
        ),
        methods=tuple(_methods(schema)),
    )
    body = render("module.py.j2", view)
    title = docstring(f"{schema.class_name}, generated from its schema.", 0)
    return f"{title}\n\n{import_block(body)}\n{body}"


def _methods(schema: Schema) -> Iterator[Method]:
    yield methods.init(schema)
    for field in schema.fields:
        if "accumulate" in field.manager_may:
            yield methods.append(field)
    for reset in schema.resets:
        yield methods.reset(schema, reset)
    for group in schema.groups:
        yield methods.group_reset(group)
    for handoff in schema.handoffs:
        yield methods.lend(schema, handoff)
    if schema.reset_rules:
        yield methods.reset_reason(schema)
    yield methods.declared_nbytes(schema)
