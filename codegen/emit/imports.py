"""The import block of a generated module: exactly the names that its code uses."""

import ast
from itertools import groupby

from .literals import LINE

# Name in generated code -> where it comes from; "" is a plain `import module as name`.
_ORIGINS = {
    "AbstractContextManager": "contextlib",
    "frozen": "attrs",
    "Any": "typing",
    "Literal": "typing",
    "np": "",
    "NDArray": "numpy.typing",
    "Tensor": "torch",
    "equal": "torch",
    "Axis": "session_state.axes",
    "CapturedAxis": "session_state.axes",
    "as_bool": "session_state.coercions",
    "as_float": "session_state.coercions",
    "as_int": "session_state.coercions",
    "as_names": "session_state.coercions",
    "as_str": "session_state.coercions",
    "optional": "session_state.coercions",
    "DeclaredBytes": "session_state.declared",
    "ceil_div": "session_state.declared",
    "check_sizes": "session_state.declared",
    "itemsize": "session_state.declared",
    "AttrFamily": "session_state.families",
    "ObjectFamily": "session_state.families",
    "Attr": "session_state.fields",
    "ObjectField": "session_state.fields",
    "Param": "session_state.fields",
    "ValueField": "session_state.fields",
    "ViewField": "session_state.fields",
    "SessionStateManager": "session_state.manager",
    "EncodeOnce": "session_state.objects",
    "FrameRing": "session_state.objects",
    "LatentBuffer": "session_state.objects",
    "SessionView": "session_state.view",
}

_STANDARD = ("contextlib", "typing")


def import_block(body: str) -> str:
    """The imports that `body` needs, in the order in which an import sorter leaves them."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    sections: list[list[str]] = [[], []]
    for module, names in groupby(sorted(used & _ORIGINS.keys(), key=_order), _ORIGINS.__getitem__):
        line = _line(module, sorted(names, key=_member_order))
        sections[module not in _STANDARD].append(line)
    return "\n\n".join("\n".join(section) for section in sections if section)


def _order(name: str) -> tuple[bool, str, str]:
    return (_ORIGINS[name] != "", _ORIGINS[name], name)


def _member_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as isort's default has it."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def _line(module: str, names: list[str]) -> str:
    if not module:
        return "import numpy as np"
    flat = f"from {module} import {', '.join(names)}"
    if len(flat) <= LINE:
        return flat
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
