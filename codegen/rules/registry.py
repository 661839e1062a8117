"""Every code that a finding can have: one row each, and for rules over the model their check.

Codes without a check are reported where the text is read: by `source`, `scalars` and `load`.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from attrs import frozen

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

Check = Callable[[Schema], Iterator[Problem]]


@frozen
class Rule:
    """One code: how bad it is, what it is for, and how it is found."""

    code: str
    severity: Severity
    purpose: str
    check: Check | None = None


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
    _error("bad-encoding", "A schema is UTF-8, so that everyone reads the same characters."),
    _error("conflict-marker", "A half-resolved merge is no schema."),
    _error("hidden-character", "What a reviewer sees is all that the machine reads."),
    _error("yaml-syntax", "A schema is YAML."),
    _error("yaml-feature", "Each field stands where it is written: no anchors, merges or tags."),
    _error("duplicate-key", "A key given twice would keep its last value and say nothing."),
    _error("empty-schema", "A schema file says something."),
    _error("not-a-mapping", "Where keys are expected, a mapping stands."),
    _error("not-a-sequence", "Where several values are expected, a list stands."),
    _error("not-a-string", "Text is text in YAML 1.1 and 1.2 alike, and quoted where they differ."),
    _error("ambiguous-integer", "A number is the same in YAML 1.1 and 1.2."),
    _error("not-an-integer", "A whole number is written in decimal digits; a bool is none."),
    _error("not-a-boolean", "A boolean is true or false, and never yes or no."),
    _error("bad-bytes", "Bytes are a whole number, or a decimal with KiB, MiB or GiB."),
    _error("reason-truncated", "YAML ends unquoted text at ` #`, and at a comma inside braces."),
    _error("unknown-key", "A key that nobody reads would be ignored."),
    _error(
        "missing-key", "What every field of a kind must say, this one says.", placement.missing_keys
    ),
    _error("bad-choice", "A value of a closed set is one of it."),
    _error(
        "not-supported-yet",
        "A part of the language that is not built is never ignored.",
        families.unbuilt_families,
    ),
    _error("missing-reason", "Every placement has a reason that can be disagreed with."),
    _error("todo-reason", "A draft does not pass for what a person decided."),
    _error("repeated-reason", "A reason is of its own field.", reasons.repeated_reasons),
    _error(
        "bad-name",
        "A name can be written in Python as it is.",
        names.bad_names,
        families.bad_attributes,
    ),
    _error(
        "reserved-name",
        "A name does not hide Python's, the session's or generated code's own.",
        names.reserved_names,
    ),
    _error("duplicate-name", "Two things do not share one name.", names.duplicate_names),
    _error(
        "unknown-name",
        "Sizes name dims and params; conditions name fields, arguments and params.",
        references.unknown_names,
        conditions.unknown_names,
    ),
    _error("unknown-reset", "A reset that is named is declared.", references.unknown_resets),
    _error(
        "unknown-field",
        "A field that is named is declared.",
        references.unknown_fields,
        dependencies.unknown_sources,
        families.unknown_partners,
    ),
    _error("unknown-axis", "An axis that is named is declared.", families.unknown_axes),
    _error(
        "wrong-kind",
        "A key belongs to the placement, kind and type of its field.",
        placement.wrong_kinds,
    ),
    _error(
        "bad-type",
        "A type is of the language, and one that its param or object can have.",
        placement.bad_types,
        values.param_types,
    ),
    _error("bad-dtype", "A dtype exists, for arrays in NumPy.", values.bad_dtypes),
    _error("missing-dtype", "Bytes need the size of an element.", values.missing_dtypes),
    _error("missing-shape", "Whatever can hold bytes declares how many.", placement.missing_shapes),
    _error(
        "missing-bound",
        "A buffer without a ring says how it grows and what ends that.",
        placement.missing_bounds,
    ),
    _error(
        "missing-horizon", "What grows is quoted at a number of steps.", placement.missing_horizons
    ),
    _error("bad-dimension", "A ring and a view agree with the shape.", placement.bad_dimensions),
    _error(
        "bad-axis",
        "The keys of a family are known to the running session, and can be told apart.",
        families.bad_axes,
        families.bad_families,
    ),
    _error(
        "bad-partner",
        "Fields that are complete together are two, under keys of one axis.",
        families.bad_partners,
    ),
    _error(
        "bad-handoff",
        "A loan is of one value, which can be taken back.",
        families.bad_handoffs,
    ),
    _error(
        "missing-permission",
        "What a field asks the manager to do, `manager_may` says.",
        dependencies.missing_permissions,
    ),
    _error(
        "missing-recompute",
        "The manager lets go of nothing that cannot be brought back.",
        dependencies.missing_recomputes,
    ),
    _error("cycle", "Nothing is rebuilt from, or ended by, itself.", dependencies.cycles),
    _error(
        "outlives-source",
        "A field does not outlive what it is derived or rebuilt from.",
        dependencies.outliving,
        dependencies.unstaged_sources,
    ),
    _error("bad-ring", "A ring's size is known to the running session.", references.ring_sizes),
    _error(
        "missing-default", "An attr has a value before it is assigned.", values.missing_defaults
    ),
    _error("bad-default", "A default is a value of its type.", values.bad_defaults),
    _error("bad-range", "Bounds of a param leave room for its values.", values.bad_ranges),
    _error(
        "missing-shipped",
        "Params in formulas have a value to quote bytes at.",
        formulas.missing_shipped,
    ),
    _error(
        "bad-formula",
        "A size is a whole-number formula with a value of 1 or more.",
        formulas.bad_values,
    ),
    _error(
        "bad-condition",
        "A condition asks values what they can answer.",
        conditions.bad_conditions,
    ),
    _error("maybe-none", "A value that may be None is tested first.", conditions.maybe_none),
    _warning("inexact-division", "A division that drops a remainder is meant.", formulas.inexact),
    _warning(
        "unused-dim", "A dim that nothing uses is a typo or a leftover.", references.unused_dims
    ),
    _warning(
        "unused-record",
        "A record that nothing holds is a leftover.",
        references.unused_records,
    ),
    _warning(
        "unused-axis", "An axis that nothing is kept per is a leftover.", families.unused_axes
    ),
)
