"""Literals: what goes in comes back, and a formatter has nothing to say."""

import ast
import inspect
import subprocess
import sys

from hypothesis import example, given, settings
from hypothesis import strategies as st

from codegen.emit.literals import docstring, keyword_string, string

HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\"'\\ \t\n\r#{}%`$u\x00\u2028日́"),
    ),
    max_size=200,
)


@given(HOSTILE)
@example('""" + __import__("os").abort() + """')
@example("ends in a backslash\\")
@example("{{ 7*7 }} # noqa: F401 # type: ignore")
def test_string_reads_back_as_the_text(text: str) -> None:
    """A literal is one expression, a constant, and equal to the text it was made from."""
    node = ast.parse(string(text), mode="eval").body
    assert isinstance(node, ast.Constant)
    assert text == node.value


@given(HOSTILE)
@example('ends in a quote"')
@example('"""')
@example('\\"""')
@example("a\n  b\nc")
@example(" leads and trails ")
def test_docstring_reads_back_as_the_text(text: str) -> None:
    """A docstring is the text itself, or the text once `inspect` has cleaned it."""
    tree = ast.parse(f"class C:\n    {docstring(text, 4)}\n")
    (body,) = tree.body
    assert isinstance(body, ast.ClassDef)
    assert 1 == len(body.body)
    raw = ast.get_docstring(body, clean=False)
    assert text in (raw, inspect.cleandoc(raw or ""))


@given(st.text(alphabet="abc  ", max_size=400))
def test_long_keyword_is_cut_at_words_only(text: str) -> None:
    """However many pieces a text is cut into, they add up to it and none is too wide."""
    written = keyword_string("reason", text, 8)
    call = ast.parse(f"f({written})", mode="eval").body
    assert isinstance(call, ast.Call)
    assert text == ast.literal_eval(call.keywords[0].value)


@settings(max_examples=40, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=12), st.sampled_from([88, 100]))
def test_the_formatter_has_nothing_to_say(texts: list[str], limit: int) -> None:
    """Declarations and docstrings with any text are left as they are by `ruff format`."""
    lines = [f"class C{i}:\n    {docstring(text, 4)}\n" for i, text in enumerate(texts)]
    for i, text in enumerate(texts):
        lines.append(
            f"class D{i}:\n    x = f(\n        {keyword_string('reason', text, 8)},\n    )\n"
        )
    module = "\n\n".join(lines)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={limit}", "-"],
        input=module.encode(),
        capture_output=True,
        check=True,
    )
    assert module == done.stdout.decode()
