"""`new`: a schema that loads, in which only the reasons are left to write."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.language import SCHEMA, Either, ListOf, Named, OneOf, Table, Value

from .project import Project
from .schemas import examine


def written(tmp_path: Path, model: str = "LingBot-World") -> Path:
    """The file that `new` writes for a model."""
    project = Project.at(tmp_path)
    done = project.run("new", model)
    assert (0, "") == (done.code, done.err)
    [path] = (tmp_path / "schemas").glob("*.yaml")
    assert f"wrote schemas/{path.name}" in done.out
    return path


def with_reasons(text: str) -> str:
    """The text with a reason of its own for each that is to be written."""
    numbers = iter(range(100))
    return re.sub(r"TODO (?:why|what)[^}\n]*", lambda _: f"It is rule {next(numbers)}.", text)


def in_use(text: str) -> str:
    """The text with its commented lines taken in, as its first lines say."""
    return re.sub(r"^# ( *(?:- )?(?:\w+:|\{).*)$", r"\1", text, flags=re.MULTILINE)


def test_it_loads_and_only_reasons_are_to_be_written(tmp_path: Path) -> None:
    """`check` asks for one reason per field and for nothing else."""
    path = written(tmp_path)
    schema, findings = examine(path.read_bytes())
    assert schema
    assert ("lingbot_world.yaml", "LingBot-World") == (path.name, schema.model)
    assert "LingBotWorldSession" == schema.class_name
    assert ["todo-reason"] * 3 == [finding.code for finding in findings]


def test_it_generates_once_the_reasons_are_written(tmp_path: Path) -> None:
    """Nothing but its reasons stands between a new schema and a session class."""
    path = written(tmp_path)
    path.write_text(with_reasons(path.read_text("utf-8")), encoding="utf-8")
    done = Project(tmp_path).run("generate")
    assert (0, "") == (done.code, done.err)
    assert {"lingbot_world.py", "DECISIONS.md", "__init__.py"} == set(Project(tmp_path).files())


def test_what_stands_in_comments_is_a_schema_too(tmp_path: Path) -> None:
    """Every commented example can be used as it stands, all of them together."""
    text = in_use(with_reasons(written(tmp_path).read_text("utf-8")))
    schema, findings = examine(text)
    assert () == findings
    assert schema
    assert 12 == len(schema.fields)


def test_a_new_schema_is_in_canonical_order(tmp_path: Path) -> None:
    """`format` has nothing to do, whatever of the examples is used."""
    path = written(tmp_path)
    assert 0 == Project(tmp_path).run("format", "--check").code
    path.write_text(in_use(path.read_text("utf-8")), encoding="utf-8")
    assert 0 == Project(tmp_path).run("format", "--check").code


def words(value: Value) -> Iterator[str]:
    """Every key below `value`, and every word of a choice that is named by its purpose."""
    match value:
        case Table():
            for key in value.keys:
                yield key.name
                yield from words(key.value)
        case ListOf(item=inner) | Named(value=inner):
            yield from words(inner)
        case Either():
            yield from words(value.one)
            yield from words(value.other)
        case OneOf() if len(value.words) < 5:
            yield from value.words


def test_every_key_of_the_language_is_in_it(tmp_path: Path) -> None:
    """A key that the language gains is one that a new schema explains."""
    text = written(tmp_path).read_text("utf-8")
    assert set() == {word for word in words(SCHEMA) if not re.search(rf"\b{word}\b", text)}


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    """A model that has a schema keeps it."""
    path = written(tmp_path)
    path.write_text("mine", encoding="utf-8")
    done = Project(tmp_path).run("new", "LingBot-World")
    assert 2 == done.code
    assert "schemas/lingbot_world.yaml: is there already" in done.err
    assert "mine" == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("2 fast", "The model `2 fast` would be the module `2_fast`, which cannot be."),
        ("", "This text is empty."),
        ("class", "The model `class` would be the module `class`, which cannot be."),
        ("caf\udce9", "'caf\\udce9': this name is not UTF-8, and a schema is"),
        ("a\u202eb", "U+202E (RIGHT-TO-LEFT OVERRIDE) does not show"),
    ],
)
def test_a_model_that_the_checker_refuses_gets_its_message(
    tmp_path: Path, model: str, message: str
) -> None:
    """What `check` would say of the schema is said before there is one."""
    done = Project.at(tmp_path).run("new", model)
    assert 2 == done.code
    assert f"session-state: {message}" in done.err
    assert [] == list((tmp_path / "schemas").iterdir())


def test_a_model_that_another_schema_has_is_refused(tmp_path: Path) -> None:
    """Two models of one module are found whatever their files are called."""
    path = written(tmp_path)
    path.rename(path.with_name("other.yaml"))
    done = Project(tmp_path).run("new", "lingbot world")
    assert 2 == done.code
    assert "would be written to `lingbot_world.py`, as `LingBot-World` of other.yaml is" in done.err


@pytest.mark.parametrize(
    "model", ["no", "null", "a: b", "x # y", "it's", 'a "b"', "a\nb", "{{ a }}"]
)
def test_a_name_stays_the_name_that_was_given(tmp_path: Path, model: str) -> None:
    """What YAML or a template would read in it stays text."""
    schema, _ = examine(written(tmp_path, model).read_bytes())
    assert schema
    assert model == schema.model


def test_the_editor_is_told_where_its_schema_is(tmp_path: Path) -> None:
    """The first line names the JSON Schema, where it lies beside the schemas."""
    project = Project.at(tmp_path)
    assert "yaml-language-server" not in written(tmp_path / "without").read_text("utf-8")
    (tmp_path / "schemas" / "session-state.schema.json").write_text("{}", encoding="utf-8")
    assert 0 == project.run("new", "Demo").code
    first, *_ = (tmp_path / "schemas" / "demo.yaml").read_text("utf-8").split("\n")
    assert "# yaml-language-server: $schema=session-state.schema.json" == first
