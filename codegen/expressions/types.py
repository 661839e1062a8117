"""Types: a closed part of Python's own notation.

union  = member {"|" member}
member = atom | record | ("list" | "set") "[" union "]" | "dict" "[" union "," union "]"
       | "tuple" "[" union ("," "..." | {"," union}) "]" | "Literal" "[" text {"," text} "]"
"""

import difflib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from .ast import Atom, Choice, Generic, RecordType, Type, Union
from .tokens import Cursor, ExpressionError, Locate, Token, on_one_line

AtomName = Literal["int", "float", "bool", "str", "None", "Tensor", "ndarray"]
Origin = Literal["list", "tuple", "dict", "set"]
ATOMS: tuple[AtomName, ...] = ("int", "float", "bool", "str", "None", "Tensor", "ndarray")
ORIGINS: tuple[Origin, ...] = ("list", "tuple", "dict", "set")
# What a param that gives the keys of an axis is.
NAMES = Generic("tuple", (Atom("str"),), variadic=True)
LATER = frozenset({"Generator", "opaque"})

_NAMES = (*ATOMS, *ORIGINS, "Literal")
_INSTEAD: Mapping[str, str] = {
    "Optional": "write `X | None`",
    "Union": "write `X | Y`",
    "List": "write `list[...]`",
    "Tuple": "write `tuple[...]`",
    "Dict": "write `dict[..., ...]`",
    "Set": "write `set[...]`",
    "NDArray": "write `ndarray`; its dtype is a key of the field",
    "array": "write `ndarray`",
    "tensor": "write `Tensor`",
    "string": "write `str`",
    "integer": "write `int`",
    "boolean": "write `bool`",
    **{
        f"{kind}Tensor": f"write `Tensor`, with `dtype: {dtype}`"
        for kind, dtype in {
            **{"Double": "float64", "Float": "float32", "Half": "float16"},
            **{"BFloat16": "bfloat16", "Long": "int64", "Int": "int32", "Short": "int16"},
            **{"Char": "int8", "Byte": "uint8", "Bool": "bool"},
        }.items()
    },
}


def parse_type(
    text: str,
    locate: Locate = on_one_line,
    records: Mapping[str, RecordType | None] = MappingProxyType({}),
) -> Type:
    """The type that `text` writes; `records` are the schema's own, None of those still to be read.

    Raises:
        ExpressionError: it is not of the grammar.
    """
    grammar = _TypeGrammar(Cursor(text, locate), records)
    type_ = grammar.union()
    if not grammar.cursor.at_end:
        raise grammar.cursor.unexpected()
    if type_ == Atom("None"):
        raise ExpressionError("A value that is always None holds nothing.", type_.at)
    return type_


class _TypeGrammar:
    def __init__(self, cursor: Cursor, records: Mapping[str, RecordType | None]) -> None:
        self.cursor = cursor
        self._records = records

    def union(self) -> Type:
        start = self.cursor.token
        members = [self._member()]
        while self.cursor.take("|"):
            again = self.cursor.token
            member = self._member()
            if member in members:
                raise self.cursor.error(f"`{show(member)}` is named twice.", again)
            members.append(member)
        return members[0] if len(members) == 1 else Union(tuple(members), self.cursor.span(start))

    def _member(self) -> Type:
        token = self.cursor.token
        if token.kind != "name":
            raise self.cursor.unexpected()
        self.cursor.next()
        if self.cursor.token.text == ".":
            raise self._dotted(token)
        for atom in ATOMS:
            if token.text == atom:
                return Atom(atom, self.cursor.span(token, token))
        for origin in ORIGINS:
            if token.text == origin:
                return self._generic(origin, token)
        if token.text == "Literal":
            return self._choice(token)
        if record := self._records.get(token.text):
            return RecordType(record.name, record.members, self.cursor.span(token, token))
        raise self._unknown(token)

    def _generic(self, origin: Origin, start: Token) -> Generic:
        opened = self.cursor.take("[")
        if opened is None:
            inner = "str, Tensor" if origin == "dict" else "Tensor"
            message = f"`{origin}` does not say what is in it."
            raise self.cursor.error(message, start, f"write `{origin}[{inner}]`")
        arguments, variadic = [], False
        with self.cursor.nested():
            arguments.append(self.union())
            while not variadic and self.cursor.take(","):
                variadic = origin == "tuple" and len(arguments) == 1
                variadic = variadic and self.cursor.take("...") is not None
                if not variadic:
                    arguments.append(self.union())
        self.cursor.expect("]", opened)
        wanted = {"list": 1, "set": 1, "dict": 2}.get(origin, len(arguments))
        if len(arguments) != wanted:
            count = "one type" if wanted == 1 else "two types"
            raise self.cursor.error(f"`{origin}` takes {count}.", start)
        return Generic(origin, tuple(arguments), variadic, self.cursor.span(start))

    def _choice(self, start: Token) -> Choice:
        opened = self.cursor.take("[")
        if opened is None:
            raise self.cursor.error("`Literal` needs its texts.", start, 'write `Literal["a"]`')
        values: list[str] = []
        while not values or self.cursor.take(","):
            token = self.cursor.next()
            if token.kind != "string" or token.text[1:-1] in values:
                said = "is there twice" if token.kind == "string" else "is not a quoted text"
                raise self.cursor.error(f"`{token.text}` {said}.", token, 'write `Literal["a"]`')
            values.append(token.text[1:-1])
        self.cursor.expect("]", opened)
        return Choice(tuple(values), self.cursor.span(start))

    def _dotted(self, start: Token) -> ExpressionError:
        last = start
        while self.cursor.take("."):
            last = self.cursor.next()
        known = last.text in ("Tensor", "ndarray", "Generator")
        hint = f"write `{last.text}`" if known else _INSTEAD.get(last.text)
        message = "A type is named without its module."
        return ExpressionError(message, self.cursor.span(start, last), hint)

    def _unknown(self, token: Token) -> ExpressionError:
        if token.text in LATER:
            message = f"`{token.text}` as a type is part of the language, and not built yet."
            return ExpressionError(
                message, self.cursor.span(token, token), code="not-supported-yet"
            )
        if token.text in self._records:
            message = f"The record `{token.text}` is not known yet where this one is declared."
            return self.cursor.error(message, token, "a record may hold those above it")
        hint = _INSTEAD.get(token.text)
        if hint is None:
            known = (*_NAMES, *self._records)
            close = difflib.get_close_matches(token.text, known, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"the types are {', '.join(known)}"
        return self.cursor.error(f"`{token.text}` is not a type of the language.", token, hint)


def show(type_: Type) -> str:
    """The type as a schema writes it."""
    match type_:
        case Atom(name=name):
            return name
        case RecordType(name=name):
            return name
        case Choice(values=values):
            return f"Literal[{', '.join(chr(34) + value + chr(34) for value in values)}]"
        case Union(members=inner):
            return " | ".join(map(show, inner))
        case Generic(origin=origin, arguments=arguments, variadic=variadic):
            inner_text = [*map(show, arguments), *(["..."] if variadic else [])]
            return f"{origin}[{', '.join(inner_text)}]"


def members(type_: Type) -> tuple[Type, ...]:
    """The members of a union, flat; any other type is its own only member."""
    if not isinstance(type_, Union):
        return (type_,)
    return tuple(inner for member in type_.members for inner in members(member))


def containers(type_: Type) -> tuple[Generic, ...]:
    """The members of a type that hold other values: lists, tuples, dicts and sets."""
    return tuple(member for member in members(type_) if isinstance(member, Generic))


def may_be_none(type_: Type) -> bool:
    """Whether None is one of the type's values."""
    return Atom("None") in members(type_)


def atoms(type_: Type) -> Iterator[Atom]:
    """Every plain type that the type mentions, at any depth, but for those inside of records."""
    match type_:
        case Atom():
            yield type_
        case Union(members=inner) | Generic(arguments=inner):
            for member in inner:
                yield from atoms(member)


def records_in(type_: Type) -> Iterator[RecordType]:
    """Each record that a value has at most, once for each place; of lists and sets none is known."""
    match type_:
        case RecordType():
            yield type_
        case Union(members=inner) | Generic(origin="tuple", arguments=inner, variadic=False):
            for member in inner:
                yield from records_in(member)


def record_names(type_: Type) -> Iterator[str]:
    """The name of every record that the type mentions, at any depth."""
    match type_:
        case RecordType(name=name):
            yield name
        case Union(members=inner) | Generic(arguments=inner):
            for member in inner:
                yield from record_names(member)


def mentions_record(type_: Type) -> bool:
    """Whether a value of the type may be a record, or hold one."""
    return any(record_names(type_))


def holds_bytes(type_: Type) -> bool:
    """Whether its values hold bytes that a shape declares.

    Those of a record are declared with it, unless a list has any number of records.
    """
    match type_:
        case RecordType():
            return False
        case Union(members=inner) | Generic(origin="tuple", arguments=inner, variadic=False):
            return any(map(holds_bytes, inner))
        case Generic(arguments=inner):
            return any(map(_has_bytes, inner))
    return _has_bytes(type_)


def _has_bytes(type_: Type) -> bool:
    """Whether there are tensors or arrays in its values, declared anywhere."""
    match type_:
        case Atom(name=name):
            return name in ("Tensor", "ndarray")
        case Union(members=inner) | Generic(arguments=inner) | RecordType(members=inner):
            return any(map(_has_bytes, inner))
    return False


def arrays_in(type_: Type) -> int | None:
    """How many tensors or arrays a value has at most; None where the type does not say."""
    match type_:
        case Atom(name=name):
            return int(name in ("Tensor", "ndarray"))
        case Choice() | RecordType():
            return 0
        case Union(members=inner):
            counts = [arrays_in(member) for member in inner]
            return None if None in counts else max(count or 0 for count in counts)
        case Generic(origin="tuple", arguments=inner, variadic=False):
            counts = [arrays_in(member) for member in inner]
            return None if None in counts else sum(count or 0 for count in counts)
        case Generic():
            return None if holds_bytes(type_) else 0
