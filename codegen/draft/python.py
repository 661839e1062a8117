"""Python files as syntax trees: their classes, constants and imports. Nothing is ever imported."""

import ast
import difflib
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from attrs import define

from ..settings import UsageError

Function = ast.FunctionDef | ast.AsyncFunctionDef

# Modules that a name is followed through before it counts as unknown.
_IMPORTS_FOLLOWED = 4
# Expressions inside expressions, and constants that are defined by each other.
_DEPTH = 16


@define(frozen=True, slots=False, eq=False)
class Module:
    """One Python file, parsed."""

    path: Path
    tree: ast.Module

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """Every class of the file by its name, those inside classes and functions too.

        Of two at the top of the file the later one, which is what Python has under the name.
        """
        found = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
        return found

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The functions at the top of the file."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    @cached_property
    def constants(self) -> Mapping[str, ast.expr]:
        """What the names at the top of the file are assigned."""
        return dict(_assigned(self.tree.body))

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, str]]:
        """Imported names: the module, dots in front where it is relative, and the name there."""
        return {
            alias.asname or alias.name: ("." * node.level + (node.module or ""), alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """Names that stand for a whole module: `np` for `numpy`."""
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name.partition(".")[0]
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }

    def constant(self, name: str, followed: int = 0) -> ast.expr | None:
        """What `name` is assigned, here or in the file that it is imported from."""
        if name in self.constants:
            return self.constants[name]
        module, there = self._origin_of(name, followed)
        return module.constant(there, followed + 1) if module else None

    def value_class(self, name: str, followed: int = 0) -> "ValueClass | None":
        """The class `name`, here or in the file that it is imported from, if it is frozen."""
        if name in self.classes:
            node = self.classes[name]
            return ValueClass(self, node) if _is_frozen(node) else None
        module, there = self._origin_of(name, followed)
        return module.value_class(there, followed + 1) if module else None

    def _origin_of(self, name: str, followed: int) -> tuple["Module | None", str]:
        """The file that a name is imported from, and the name there."""
        origin, there = self.imports.get(name, ("", name))
        path = self._file_of(origin) if origin and followed < _IMPORTS_FOLLOWED else None
        try:
            return (read_module(path) if path else None), there
        except UsageError:
            return None, there

    def integer(self, node: ast.expr | None, depth: int = 0) -> int | None:
        """The whole number that an expression over constants has, or None."""
        if depth > _DEPTH:
            return None
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return self.integer(self.constant(name), depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                negated = self.integer(operand, depth + 1)
                return None if negated is None else -negated
            case ast.BinOp(left=left, op=operator, right=right):
                sides = self.integer(left, depth + 1), self.integer(right, depth + 1)
                return _computed(operator, *sides)
        return None

    def _file_of(self, origin: str) -> Path | None:
        level = len(origin) - len(origin.lstrip("."))
        parts = [part for part in origin.lstrip(".").split(".") if part]
        folders = self.path.resolve().parents
        for folder in folders[level - 1 : level] if level else folders:
            for path in (
                folder.joinpath(*parts).with_suffix(".py"),
                folder.joinpath(*parts, "__init__.py"),
            ):
                if parts and path.is_file():
                    return path
        return None


@define(frozen=True, eq=False)
class ValueClass:
    """A frozen class, whose objects are replaced as a whole, and the file that it is in."""

    module: Module
    node: ast.ClassDef


def _is_frozen(node: ast.ClassDef) -> bool:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            frozen = keyword(decorator, "frozen")
            if isinstance(frozen, ast.Constant) and frozen.value is True:
                return True
            decorator = decorator.func
        if dotted(decorator)[-1:] == ("frozen",):
            return True
    return False


def _computed(operator: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() if right:
            return left // right
    return None


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def read_module(path: Path) -> Module:
    """Parse a Python file.

    Raises:
        UsageError: it cannot be read, or is not Python.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        with warnings.catch_warnings():
            # What the author's own interpreter warns of is no business of a draft.
            warnings.simplefilter("ignore")
            return Module(path, ast.parse(text, str(path)))
    except SyntaxError as error:
        place = f"{path}:{error.lineno or 1}"
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise UsageError(
            f"{place}: is not Python {version} ({error.msg}); correct it, or run session-state "
            "with the Python that it is written for"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{path}: is not Python that can be read ({error})") from error


def find_class(module: Module, name: str) -> ast.ClassDef:
    """The class `name` of a file.

    Raises:
        UsageError: there is none of that name.
    """
    if name in module.classes:
        return module.classes[name]
    if not module.classes:
        raise UsageError(f"{module.path}: has no class at all")
    close = difflib.get_close_matches(name, module.classes, 1, cutoff=0.5)
    listed = sorted(module.classes)
    shown = ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if listed[8:] else "")
    hint = f"did you mean {close[0]}?" if close else f"there are {shown}"
    raise UsageError(f"{module.path}: has no class {name!r}; {hint}")


def dotted(node: ast.expr) -> tuple[str, ...]:
    """`torch.nn.Module` as its names; empty where the expression is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else ()


def own_attribute(node: ast.expr) -> str | None:
    """The name of `self.name`."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return None


def keyword(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """An argument of a call, by its keyword or its position."""
    for one in call.keywords:
        if one.arg == name:
            return one.value
    if position is not None and position < len(call.args):
        return call.args[position]
    return None
