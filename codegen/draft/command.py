"""What `session-state draft` does: find the class, see that it is one session's, and draft it."""

import ast
from pathlib import Path

from ..settings import UsageError
from .members import members_of
from .pipelines import Store, module_stores, stores_of
from .python import Module, find_class, read_module
from .schema import Draft
from .state import read_state


def drafted(where: str) -> Draft:
    """The draft of the class that `FILE.py:CLASS` names.

    Raises:
        UsageError: there is no such class, or it keeps many sessions and is not one.
    """
    file, colon, name = where.rpartition(":")
    if not (colon and file and name.isidentifier()):
        raise UsageError(f"{where}: name a class of the file, as in FILE.py:StateClass")
    module = read_module(Path(file))
    node = find_class(module, name)
    if stores := stores_of(members_of(module, node)):
        raise UsageError(_keeps_sessions(file, module, node, stores))
    state = read_state(module, node)
    return Draft(state, where, module_stores(module, name))


def _keeps_sessions(
    file: str, module: Module, node: ast.ClassDef, stores: tuple[Store, ...]
) -> str:
    """What a class is that keeps sessions by their id, and what to draft in its place."""
    first, *others = sorted(stores, key=lambda store: (not store.holds, store.line))
    and_more = f" and {len(others)} more" if others else ""
    said = f"{file}:{first.line}: {node.name} keeps sessions by id, in `{first.name}`{and_more}"
    if first.holds in module.classes:
        return f"{said}: draft what it keeps of one, with {file}:{first.holds}"
    if first.holds and first.holds in module.imports:
        return (
            f"{said}: draft what it keeps of one, {first.holds} of {module.imports[first.holds][0]}"
        )
    return f"{said}, and no class says what one of them is: write its values as a dataclass, and draft that"
