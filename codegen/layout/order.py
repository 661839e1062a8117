"""Which mappings of a schema are out of order, and the edits that put them right."""

from collections.abc import Iterator

from ..language import ListOf, Named, Table, Value
from ..nodes import Mapping, Node, Sequence
from .block import block_edit
from .edits import Edit
from .extent import is_flow
from .flow import flow_edit


def edits(text: str, node: Node, value: Value) -> Iterator[Edit]:
    """The edits that put every mapping within `node` in order; none of them lies in another.

    Mappings of names that the author chose keep their order: it is that of the generated class.
    """
    match node, value:
        case Sequence(), ListOf():
            for item in node.items:
                yield from edits(text, item, value.item)
        case Mapping(), Named():
            for entry in node.entries:
                yield from edits(text, entry.value, value.value)
        case Mapping(), Table():
            yield from _of_table(text, node, value)


def _of_table(text: str, node: Mapping, table: Table) -> Iterator[Edit]:
    within = [
        edit
        for entry in node.entries
        for edit in edits(text, entry.value, table.rows[entry.key.value].value)
    ]
    places = [table.known.index(entry.key.value) for entry in node.entries]
    order = sorted(range(len(places)), key=places.__getitem__)
    if order == list(range(len(places))):
        yield from within
    elif is_flow(text, node):
        yield flow_edit(text, node, order, within)
    else:
        yield block_edit(text, node, order, within)
