"""What a code means, from its row and its examples: for a terminal, and as the page of all rules."""

import textwrap
from collections.abc import Iterator, Sequence

import click

from .render import text
from .rules.examples import Example, right, wrong
from .rules.registry import RULES
from .rules.rule import Rule
from .visible import visible

PAGE_HEAD = """\
# The rules

What `session-state` finds has a code, and each code is a rule with a reason. Errors stop every
command; warnings fail only under `check --strict`. `session-state explain CODE` says in a terminal
what this page says.

An example shows what matters alone: the keys that it leaves out are those of a small schema
without findings. Both halves of each go through the checker when this page is made.

What `session-state breaking` says of a change has codes, too: they are in [breaking.md](breaking.md).
"""
CHANGES_HEAD = "What `session-state breaking` finds; a note breaks nothing:"


def listing(rules: Sequence[Rule], columns: int) -> str:
    """All codes with what holds where they are not found, for a terminal of so many columns."""
    most = max(len(rule.code) for rule in rules)
    lines = []
    for rule in rules:
        head = f"{rule.code:{most}}  {rule.severity:7}  "
        lines.append(
            textwrap.fill(
                head + rule.summary, max(columns, len(head) + 30), subsequent_indent=" " * len(head)
            )
        )
    return "\n".join(lines)


def explanation(rule: Rule, colour: bool = False) -> str:
    """One rule for a terminal: why there is one, what breaks it, how that reads, and what does not."""
    style = click.style if colour else _plain
    parts = [
        f"{style(rule.code, bold=True)}, {_article(rule)}",
        textwrap.fill(rule.purpose, 80),
    ]
    if rule in RULES:
        bad, good = wrong(rule.code), right(rule.code)
        parts += [
            style("Wrong:", bold=True),
            textwrap.indent(_shown(bad), "    "),
            text.page(bad.findings, colour),
            style("Right:", bold=True),
            textwrap.indent(_shown(good), "    "),
        ]
    return "\n\n".join(parts)


def markdown_page(rules: Sequence[Rule]) -> str:
    """The page of rules: a table to find a code in, and a section for each."""
    rows = (
        f"| [`{rule.code}`](#{rule.code}) | {rule.severity} | {rule.summary} |" for rule in rules
    )
    table = "\n".join(("| code | severity | what holds |", "| --- | --- | --- |", *rows))
    return "\n".join((PAGE_HEAD, table, *(f"\n{markdown_section(rule)}" for rule in rules)))


def markdown_section(rule: Rule) -> str:
    """One rule as a section of that page."""
    return "\n\n".join(_section(rule))


def _section(rule: Rule) -> Iterator[str]:
    yield f"## {rule.code}"
    yield textwrap.fill(f"{_article(rule).capitalize()}. {rule.purpose}", 100)
    if rule in RULES:
        bad, good = wrong(rule.code), right(rule.code)
        yield _fenced("yaml", _shown(bad))
        yield _fenced("text", text.page(bad.findings))
        yield f"Right is\n\n{_fenced('yaml', _shown(good))}"


def _article(rule: Rule) -> str:
    return f"{'an' if rule.severity[0] in 'aeiou' else 'a'} {rule.severity}"


def _shown(example: Example) -> str:
    return visible(example.text.decode(errors="replace"), keep="\n").rstrip("\n")


def _fenced(language: str, body: str) -> str:
    return f"```{language}\n{body}\n```"


def _plain(said: str, **_: object) -> str:
    return said
