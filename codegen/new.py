"""A first schema of a model, with every key of the language explained where it would stand."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from . import rules
from .emit.templates import render
from .findings import Report, Severity
from .load import load
from .model import Schema
from .names import spelling
from .outputs import SUFFIXES
from .settings import UsageError
from .source import decode, read

JSON_SCHEMA = "session-state.schema.json"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
# Words that one of the versions of YAML reads as no text.
_NO_TEXT = re.compile(r"true|false|null|yes|no|on|off|y|n", re.IGNORECASE)
# What is left for the author to write.
_ASKED = "todo-reason"


@frozen
class NewSchema:
    """The file of a new schema: its name, and its text."""

    name: str
    text: str


@frozen
class _View:
    """What the template is told; `model` is YAML, and `in_editor` asks for an editor's help."""

    model: str
    class_name: str
    in_editor: bool
    json_schema: str = JSON_SCHEMA


def new_schema(model: str, others: Sequence[Schema], in_editor: bool) -> NewSchema:
    """The first schema of `model`, beside `others`; `in_editor` where the JSON Schema is there.

    Raises:
        UsageError: the model cannot have this name.
    """
    text = render("new.yaml.j2", _View(_scalar(model), _class_name(model), in_editor))
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        # Bytes of a command line that are no UTF-8 arrive as halves of surrogate pairs.
        raise UsageError(f"{model!r}: this name is not UTF-8, and a schema is") from error
    report = Report()
    schema = load(decode(content, model), report)
    name = f"{schema.module}.yaml" if schema else ""
    if schema is not None:
        rules.check(schema, report)
        # One of this name is the same model, which whoever writes the file will see.
        rules.check_all([*(one for one in others if one.path != name), schema], report)
    for found in report.findings:
        if found.severity is Severity.ERROR and found.path == model and found.code != _ASKED:
            raise UsageError(found.message + (f" ({found.hint})" if found.hint else ""))
    return NewSchema(name, text)


def loaded(folder: Path) -> list[Schema]:
    """The schemas of a folder that load; what is wrong with the others is not asked here."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    found = (
        load(read(path, path.name), Report())
        for path in paths
        if path.suffix in SUFFIXES and path.is_file()
    )
    return [schema for schema in found if schema is not None]


def _scalar(text: str) -> str:
    """A name as YAML; JSON's texts are YAML's."""
    plain = _PLAIN.fullmatch(text) and not _NO_TEXT.fullmatch(text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def _class_name(model: str) -> str:
    words = (spelling(model) or "").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Session"
