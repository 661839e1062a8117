"""Every code that a finding can have: one row each, and for rules over the model their check.

Codes without a check are reported where the text is read: by `source`, `scalars` and `load`.
"""

from collections.abc import Iterator
from itertools import chain

from ..findings import Severity
from ..model import Schema
from . import (
    conditions,
    dependencies,
    families,
    formulas,
    names,
    placement,
    reasons,
    references,
    values,
)
from .problem import Problem
from .rule import Check, Rule


def _each(*checks: Check) -> Check:
    """One check that finds what any of several finds."""

    def check(schema: Schema) -> Iterator[Problem]:
        return chain.from_iterable(one(schema) for one in checks)

    return check


def _error(code: str, purpose: str, *checks: Check) -> Rule:
    return Rule(code, Severity.ERROR, purpose, _each(*checks) if checks else None)


def _warning(code: str, purpose: str, *checks: Check) -> Rule:
    return Rule(code, Severity.WARNING, purpose, _each(*checks))


RULES: tuple[Rule, ...] = (
    _error("bad-encoding", "A schema is UTF-8. In any other encoding two editors read two texts."),
    _error(
        "conflict-marker",
        "A half-resolved merge is no schema. YAML might read its markers as text.",
    ),
    _error(
        "hidden-character",
        "What a reviewer sees is all that the machine reads. Characters without a shape, and "
        "those that turn the order of others round, make two texts of one.",
    ),
    _error("yaml-syntax", "A schema is YAML. Where it is none, nothing else can be said about it."),
    _error(
        "yaml-feature",
        "Each field stands where it is written: no anchors, merges or tags. A reviewer of one "
        "field would otherwise have to read another.",
    ),
    _error(
        "duplicate-key",
        "A key is given once. YAML would keep its last value and say nothing of the first.",
    ),
    _error(
        "empty-schema",
        "A schema file says something. An empty one is a file that was not saved, or not begun.",
    ),
    _error(
        "not-a-mapping",
        "Where keys are expected, a mapping stands. What a list holds has no names.",
    ),
    _error(
        "not-a-sequence",
        "Where several values are expected, a list stands, also for one. A second value is "
        "then one line of a diff.",
    ),
    _error(
        "not-a-string",
        "Text is text in YAML 1.1 and 1.2 alike, and quoted where they differ. What one of "
        "them reads as a boolean or a number would be another name there.",
    ),
    _error(
        "ambiguous-integer",
        "A number is the same in YAML 1.1 and 1.2. `010` is 8 to one library and 10 to another.",
    ),
    _error(
        "not-an-integer",
        "A whole number is written in decimal digits; a bool is none. A fraction would be "
        "cut, and nobody would know which way.",
    ),
    _error(
        "not-a-boolean",
        "A boolean is true or false, and never yes or no. To YAML 1.2, `yes` and `no` are "
        "texts, and every text but the empty one is true.",
    ),
    _error(
        "bad-bytes",
        "Bytes are a whole number, or a decimal with KiB, MiB or GiB. MB means 1000 to some "
        "and 1024 to others.",
    ),
    _error(
        "reason-truncated",
        "A text is read to its end. YAML ends one without quotes at ` #`, and at a comma inside "
        "braces.",
    ),
    _error(
        "unknown-key",
        "Every key is one that the generator reads. A misspelled one would be ignored, and "
        "what it was to say with it.",
    ),
    _error(
        "missing-key",
        "What every field of a kind must say, this one says. The generator guesses nothing "
        "that a reviewer should have read.",
        placement.missing_keys,
    ),
    _error(
        "bad-choice", "A value of a closed set is one of it. Anything else would have no meaning."
    ),
    _error(
        "not-supported-yet",
        "A part of the language that is not built is never ignored. A schema that relied on "
        "it would promise what no code does.",
        families.unbuilt_families,
    ),
    _error(
        "missing-reason",
        "Every placement has a reason that can be disagreed with. The decision table is a "
        "list of them.",
    ),
    _error(
        "todo-reason",
        "A draft does not pass for what a person decided. A tool can write down where a value "
        "lives, but not why.",
    ),
    _error(
        "repeated-reason",
        "A reason is of its own field. One that was copied holds for the field it was written "
        "for, at best.",
        reasons.repeated_reasons,
    ),
    _error(
        "bad-name",
        "A name can be written in Python as it is. Fields become attributes, and dims and "
        "params become arguments.",
        names.bad_names,
        families.bad_attributes,
    ),
    _error(
        "reserved-name",
        "A name does not hide Python's, the session's or generated code's own. A field "
        "`reset` would end the method.",
        names.reserved_names,
    ),
    _error(
        "duplicate-name",
        "Two things do not share one name. Formulas, conditions and the class see one namespace.",
        names.duplicate_names,
    ),
    _error(
        "bad-rename",
        "A field was renamed from one that is gone. One that is still there cannot have been it.",
        names.bad_renames,
    ),
    _error(
        "unknown-name",
        "Sizes name dims and params; conditions name fields, arguments and params. Anything "
        "else has no value there.",
        references.unknown_names,
        conditions.unknown_names,
    ),
    _error(
        "unknown-reset",
        "A reset that is named is declared. A misspelled one in `survives` would clear what "
        "was to be kept.",
        references.unknown_resets,
    ),
    _error(
        "unknown-field",
        "A field that is named is declared. A misspelled source would never invalidate anything.",
        references.unknown_fields,
        dependencies.unknown_sources,
        families.unknown_partners,
    ),
    _error(
        "unknown-axis",
        "An axis that is named is declared. Without it nobody knows how many keys there are.",
        families.unknown_axes,
    ),
    _error(
        "wrong-kind",
        "A key belongs to the placement, kind and type of its field. Of an attr the manager "
        "may do nothing, whatever the schema says.",
        placement.wrong_kinds,
    ),
    _error(
        "bad-type",
        "A type is of the language, and one that its param or object can have. What a value "
        "can hold, and whether it is None, follows from it.",
        placement.bad_types,
        values.param_types,
    ),
    _error(
        "bad-dtype",
        "A dtype exists, for arrays in NumPy. Bytes are counted by it.",
        values.bad_dtypes,
    ),
    _error(
        "missing-dtype",
        "A value with a shape has a dtype, its own or that of `defaults`. Bytes need the size "
        "of an element.",
        values.missing_dtypes,
    ),
    _error(
        "missing-shape",
        "Whatever can hold bytes declares how many. What declares none is admitted for free, "
        "and runs out of memory later.",
        placement.missing_shapes,
    ),
    _error(
        "missing-bound",
        "A buffer without a ring says how it grows and what ends that. One that nobody bounds "
        "grows until the device is full.",
        placement.missing_bounds,
    ),
    _error(
        "missing-horizon",
        "What grows is quoted at a number of steps. Without one its bytes are no number.",
        placement.missing_horizons,
    ),
    _error(
        "bad-dimension",
        "A ring and a view agree with the shape. Frames cannot be joined along a dimension "
        "that they do not have.",
        placement.bad_dimensions,
    ),
    _error(
        "bad-axis",
        "The keys of a family are known to the running session, and can be told apart. Two "
        "values under one key would be one.",
        families.bad_axes,
        families.bad_families,
    ),
    _error(
        "bad-partner",
        "Fields that are complete together are two, under keys of one axis. A key is there "
        "when both halves are, which has no meaning otherwise.",
        families.bad_partners,
    ),
    _error(
        "bad-handoff",
        "A loan is of one value, which can be taken back. Afterwards the borrower holds what "
        "it held before, and the field what was made of it.",
        families.bad_handoffs,
    ),
    _error(
        "missing-permission",
        "What a field asks the manager to do, `manager_may` says. The table shows a reviewer "
        "the permissions, and nothing beside them.",
        dependencies.missing_permissions,
    ),
    _error(
        "missing-recompute",
        "The manager lets go of nothing that cannot be brought back. A value without a source "
        "is lost with its release.",
        dependencies.missing_recomputes,
    ),
    _error(
        "cycle",
        "Nothing is rebuilt from, or ended by, itself. Once gone, such a value could not come "
        "back.",
        dependencies.cycles,
    ),
    _error(
        "outlives-source",
        "A field does not outlive what it is derived or rebuilt from. After the reset it "
        "would speak of a value that is gone.",
        dependencies.outliving,
        dependencies.unstaged_sources,
    ),
    _error(
        "bad-ring",
        "A ring's size is known to the running session. Dims are those of the table; the "
        "session is given params.",
        references.ring_sizes,
    ),
    _error(
        "missing-default",
        "An attr has a value before it is assigned. The first `forward()` reads it.",
        values.missing_defaults,
    ),
    _error(
        "bad-default",
        "A default is a value of its type. Code that trusts the annotation reads it first.",
        values.bad_defaults,
    ),
    _error(
        "bad-range",
        "Bounds of a param leave room for its values. Otherwise no session could be opened.",
        values.bad_ranges,
    ),
    _error(
        "missing-shipped",
        "Params in formulas have a value to quote bytes at. The table says what the shipped "
        "config holds.",
        formulas.missing_shipped,
    ),
    _error(
        "bad-formula",
        "A size is a whole-number formula with a value of 1 or more. A tensor with a "
        "dimension of 0 holds nothing and hides a mistake.",
        formulas.bad_values,
    ),
    _error(
        "bad-condition",
        "A condition asks values what they can answer. One that can never hold is a reset "
        "that never comes.",
        conditions.bad_conditions,
    ),
    _error(
        "maybe-none",
        "A value that may be None is tested first. The rule would otherwise raise in the "
        "middle of a rollout.",
        conditions.maybe_none,
    ),
    _warning(
        "inexact-division",
        "A division that drops a remainder is meant. Where a rest needs room of its own, "
        "`ceil_div` gives it.",
        formulas.inexact,
    ),
    _warning(
        "unused-dim",
        "A dim is used. One that nothing uses is a typo or a leftover.",
        references.unused_dims,
    ),
    _warning(
        "unused-record",
        "A record is held by a field. One that nothing holds is a leftover.",
        references.unused_records,
    ),
    _warning(
        "unused-axis",
        "An axis has a field that is kept per it. One without is a leftover.",
        families.unused_axes,
    ),
)
