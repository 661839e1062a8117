"""From nodes to the model: what a schema means, and that no text of it goes unanswered."""

from decimal import Decimal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.declared import STEPS, declared, shipped_values
from codegen.expressions.ast import Name
from codegen.expressions.types import parse_type
from codegen.model import UNSET, Measured
from codegen.render.text import render

from .schemas import CASES, DREAMZERO, SHIPPED, dreamzero, examine, places, schema_text

WHY = "reason: The model alone advances it."
TEXT = DREAMZERO.read_text(encoding="utf-8")
# One text per shipped schema, and the longest, for edits anywhere.
TEXTS = [path.read_text(encoding="utf-8") for path in SHIPPED]
LONGEST = max(map(len, TEXTS))


def test_dreamzero_means_what_it_says() -> None:
    """The shipped schema's parts arrive in the model, in the order of the file."""
    schema = dreamzero()
    fields = {field.name: field for field in schema.fields}
    assert ("DreamZero", "DreamZeroSession", 400) == (
        schema.model,
        schema.class_name,
        schema.horizon,
    )
    assert ["frames_per_chunk", "vae_encoder_window"] == [param.name for param in schema.params]
    assert list("BHWhwzc") == [dim.name for dim in schema.dims]
    assert ["session", "inference"] == [reset.name for reset in schema.resets]
    assert ["session", "session", "session", "inference"] == [r.reset for r in schema.reset_rules]
    assert 12 == len(fields)
    assert fields["ys"].kind is None
    ring = fields["vae_encoder_out"].ring
    assert ring is not None
    assert (Name("vae_encoder_window"), 2) == (ring.size, ring.along)
    assert ("inference",) == fields["language"].survives
    assert parse_type("list[Tensor | None] | None") == fields["vae_enc_feat_map"].type
    assert 9 == len(fields["vae_enc_feat_map"].entries)
    pending = fields["vae_pending_body_frames"].shape
    assert pending is not None
    assert [False, False, True, False, False] == [one.at_most for one in pending.dimensions]
    assert UNSET == fields["ys"].default
    assert False is fields["vae_stream_initialized"].default
    measured = Measured("0.43 MiB", Decimal("450887.68"), "A100, 400 steps")
    assert (measured,) == fields["vae_encoder_out"].measured


@pytest.mark.parametrize(
    ("field", "nbytes"),
    [
        ("vae_enc_feat_map", 632_586_240),
        ("vae_encoder_out", 450_560),
        # 4 frames of 352 x 640 x 3 uint8.
        ("stitched_buffer", 2_703_360),
        # 400 steps of 16 x 2 x 44 x 80 bfloat16.
        ("video_latents", 90_112_000),
        # The clip behind a slice: 3 x 4 x 352 x 640 bfloat16.
        ("vae_pending_body_frames", 5_406_720),
        ("language", 4_096),
        ("call_count", 0),
    ],
)
def test_declared_bytes_at_the_shipped_configuration(field: str, nbytes: int) -> None:
    """Declared bytes are the product of what the schema says, worked out by hand."""
    schema = dreamzero()
    (found,) = [one for one in schema.fields if one.name == field]
    assert nbytes == declared(schema, found, shipped_values(schema))


@pytest.mark.parametrize(
    ("height", "width", "mebibytes"), [(480, 832, "1069.45"), (720, 1280, "2467.97")]
)
def test_declared_bytes_at_other_sizes(height: int, width: int, mebibytes: str) -> None:
    """The encoder's map grows with the picture as the reference's own numbers say."""
    schema = dreamzero()
    (found,) = [one for one in schema.fields if one.name == "vae_enc_feat_map"]
    sizes = {"H": height, "W": width, "h": height // 8, "w": width // 8}
    nbytes = declared(schema, found, {**shipped_values(schema), **sizes})
    assert mebibytes == f"{nbytes / 2**20:.2f}"


def one_field(line: str, **parts: str) -> int:
    schema, findings = examine(schema_text(field=line, **parts))
    assert () == findings
    assert schema is not None
    return declared(schema, schema.fields[-1], shipped_values(schema))


@pytest.mark.parametrize(
    ("line", "nbytes"),
    [
        ('a: {placement: attr, type: "tuple[Tensor, Tensor] | None", shape: [H], ', 2 * 352 * 2),
        ("a: {placement: attr, type: Tensor | None, shape: [<=H], dtype: int64, ", 352 * 8),
        ("a: {placement: attr, type: Tensor | None, shape: [B, 2*chunk, max(3, chunk)], ", 64),
        (
            'a: {placement: attr, type: "list[Tensor] | None", '
            "entries: [{shape: [H], count: chunk}, {shape: [3]}], ",
            (4 * 352 + 3) * 2,
        ),
        (
            "a: {placement: object, kind: LatentBuffer, type: Tensor, shape: [2], "
            "grows: {items: 3, every: 4}, bounded_by: the session, manager_may: [accumulate], ",
            # In 10 steps, 3 items at the end of each 4 and of what is begun.
            3 * 3 * 2 * 2,
        ),
    ],
)
def test_declared_bytes_of_each_kind(line: str, nbytes: int) -> None:
    """Tuples, bounds, formulas, entries and growth count what they can hold."""
    assert nbytes == one_field(f"{line}{WHY}}}")


def test_steps_are_part_of_the_shipped_values() -> None:
    """What grows is quoted at the horizon."""
    assert 400 == shipped_values(dreamzero())[STEPS]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("type: int, default: -3", -3),
        ("type: float, default: 2", 2.0),
        ("type: float, default: .inf", float("inf")),
        ("type: bool, default: false", False),
        ('type: str, default: "no"', "no"),
        ("type: int | None, default: null", None),
        ('type: "list[int]", default: []', ()),
        ('type: "list[str]", default: [a, "1"]', ("a", "1")),
        ('type: "dict[str, int]", default: {}', ()),
        ('type: \'Literal["a", "b"]\', default: b', "b"),
    ],
)
def test_defaults_keep_their_type(written: str, value: object) -> None:
    """A default is the value that YAML 1.2 says, of the field's own type."""
    schema, findings = examine(schema_text(field=f"a: {{placement: attr, {written}, {WHY}}}"))
    assert () == findings
    assert schema is not None
    assert value == schema.fields[-1].default
    assert type(value) is type(schema.fields[-1].default)


@pytest.mark.parametrize(
    "word", ["no", "No", "yes", "on", "OFF", "true", "~", "3", "1_000", "1:30"]
)
def test_text_that_is_none_in_some_yaml(word: str) -> None:
    """Where a text is expected, a plain word that some YAML reads otherwise is refused."""
    text = schema_text(field=f"a: {{placement: attr, type: str, default: {word}, {WHY}}}")
    assert ["not-a-string"] == [code for code, _, _ in places(text)]


@pytest.mark.parametrize("word", ["010", "0x10", "0b11", "1_000", "1:30", "-010", "0o17"])
def test_integers_that_are_read_differently(word: str) -> None:
    """A number that YAML 1.1 and 1.2 read differently is refused wherever numbers are."""
    for text in (
        schema_text(field=f"a: {{placement: attr, type: int, default: {word}, {WHY}}}"),
        schema_text(dims=f"X: {word}"),
        schema_text(field=f"a: {{placement: attr, type: Tensor | None, shape: [{word}], {WHY}}}"),
    ):
        assert ["ambiguous-integer"] == [code for code, _, _ in places(text)]


@pytest.mark.parametrize("word", ["true", "yes", '"3"', "1.0", "1.0e+3", "+1", "[1]", "9" * 30])
def test_what_is_no_integer(word: str) -> None:
    """A bool, a quoted digit or a fraction is never taken for a whole number."""
    text = schema_text(field=f"a: {{placement: attr, type: int, default: {word}, {WHY}}}")
    assert ["not-an-integer"] == [code for code, _, _ in places(text)]


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("a: {placement: attr, type: int, default: 0, reason: Once, then never}", ","),
        ("a: {placement: attr, type: int, default: 0, reason: Once, then, never}", ","),
        ("a: {reason: Once, then never, placement: attr, type: int, default: 0}", ","),
        ("a:\n    placement: attr\n    type: int\n    default: 0\n    reason: Once # never", "#"),
    ],
)
def test_texts_that_yaml_cut_short(line: str, cut: str) -> None:
    """A cut text is one finding, at the character that cut it."""
    text = schema_text(field=line)
    ((code, row, column),) = places(text)
    assert ("reason-truncated", cut) == (code, text.split("\n")[row - 1][column - 1])


def test_a_quoted_text_may_hold_anything() -> None:
    """Quotes, hashes, commas, templates and markup come through to the letter."""
    reason = 'He said "x", then # {{ 7*7 }} <b> | \\ \'\'\' """ and left:'
    quoted = "'" + reason.replace("'", "''") + "'"
    schema, findings = examine(
        schema_text(field=f"a: {{placement: attr, type: int, default: 0, reason: {quoted}}}")
    )
    assert () == findings
    assert schema is not None
    assert reason == schema.fields[-1].reason


def test_the_column_inside_a_wrapped_formula() -> None:
    """A mistake in the second line of a formula is found there."""
    text = schema_text(
        field=f"a:\n    placement: attr\n    type: Tensor | None\n"
        f"    shape:\n      - H +\n        B / 2\n    {WHY}"
    )
    ((code, line, column),) = places(text)
    assert ("bad-formula", "/") == (code, text.split("\n")[line - 1][column - 1])


def test_keys_that_are_not_built_are_the_only_findings() -> None:
    """A schema of the whole language has each unbuilt part named, and nothing said besides."""
    _, findings = examine((CASES / "not-supported-yet" / "sana_wm" / "schema.yaml").read_bytes())
    assert {"not-supported-yet"} == {finding.code for finding in findings}


FRAGMENTS = st.sampled_from(
    [
        *(
            "\n",
            " ",
            "  ",
            "- ",
            ": ",
            ",",
            "#",
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "|",
            ">",
            "&a ",
            "*a",
        ),
        *(
            "!!str ",
            "<<: ",
            "---\n",
            "no",
            "010",
            "null",
            "fields:\n",
            "type: ",
            "shape: ",
            "ring: ",
        ),
        *(
            "1 // 0",
            "(",
            ")",
            "-",
            "<=",
            "\\",
            "\t",
            "\u202e",
            "漢",
            "object",
            "attr",
            "LatentBuffer",
            "per: ",
            "recompute: ",
            "derived_from: [und_kv]",
        ),
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, LONGEST), st.integers(0, 30), FRAGMENTS), min_size=1, max_size=4
    ),
    st.sampled_from(TEXTS),
)
def test_a_damaged_schema_is_answered(edits: list[tuple[int, int, str]], text: str) -> None:
    """However a shipped schema is damaged, the answer is a model or findings that render."""
    for start, length, fragment in edits:
        text = text[:start] + fragment + text[start + length :]
    schema, findings = examine(text)
    assert schema is not None or findings
    lines = text.split("\n")
    for finding in findings:
        assert 1 <= finding.span.line <= len(lines)
        assert 1 <= finding.span.column <= len(lines[finding.span.line - 1]) + 1
        assert render(finding)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, LONGEST), st.sampled_from(TEXTS))
def test_a_schema_without_one_line_is_answered(line: int, text: str) -> None:
    """A deleted line leaves a model or findings."""
    lines = text.split("\n")
    del lines[line % len(lines)]
    schema, findings = examine("\n".join(lines))
    assert schema is not None or findings


@pytest.mark.parametrize(
    "reason",
    ["None until the first chunk.", "The list of todo items, which the model alone keeps."],
)
def test_reasons_that_only_begin_like_a_placeholder(reason: str) -> None:
    """A sentence is a reason, whatever its first word is."""
    text = schema_text(field=f"a: {{placement: attr, type: int, default: 0, reason: '{reason}'}}")
    assert [] == places(text)


@pytest.mark.parametrize("number", ["1e3", "1E+3", "1.5e3", ".5e2", "1e9999", "-1e3"])
def test_numbers_with_an_exponent_need_a_point_and_a_sign(number: str) -> None:
    """What PyYAML reads as text and YAML 1.2 as a number is neither."""
    assert isinstance(yaml.safe_load(number), str)
    text = schema_text(field=f"a: {{placement: attr, type: float, default: {number}, {WHY}}}")
    assert ["ambiguous-integer"] == [code for code, _, _ in places(text)]
