"""One change of meaning, and what finds the changes of one kind."""

from collections.abc import Callable, Iterator

from attrs import frozen

from ..findings import Severity
from ..model import Schema
from ..rules.problem import Problem
from ..span import Span
from .pairs import Comparison, Kept, Models, Pair


@frozen
class Change:
    """What differs between two sides: an error where it is breaking, a note where it is not.

    Attributes:
        model: the model's name, the new one where it was renamed.
        field: the field's name, the new one where it was renamed; None for the model's own parts.
        path: the file that `span` is in; of a model that is gone the old file, without a span.
    """

    path: str
    span: Span | None
    code: str
    severity: Severity
    model: str
    field: str | None
    message: str
    hint: str | None

    @property
    def breaking(self) -> bool:
        return self.severity is Severity.ERROR


@frozen
class Found:
    """A problem of one schema, and of one of its fields where it is of a field.

    `gone` marks a schema of the old side, which has no place in the new one.
    """

    schema: Schema
    problem: Problem
    field: str | None = None
    gone: bool = False


Compare = Callable[[Comparison], Iterator[Found]]
CompareModels = Callable[[Models], Iterator[Problem]]
CompareFields = Callable[[Models, Kept], Iterator[Problem]]
CompareDescribed = Callable[[Models, Pair], Iterator[Problem]]


@frozen
class Kind:
    """One kind of change: its code, whether it breaks, why that matters, and how it is found."""

    code: str
    severity: Severity
    purpose: str
    compare: Compare


def each_model(*compares: CompareModels) -> Compare:
    """The comparison of all models that compares one after the other."""

    def compare(comparison: Comparison) -> Iterator[Found]:
        for models in comparison.models:
            for one in compares:
                yield from (Found(models.new, problem) for problem in one(models))

    return compare


def each_field(*compares: CompareFields) -> Compare:
    """The comparison of all models that compares each field that both sides have."""

    def compare(comparison: Comparison) -> Iterator[Found]:
        for models in comparison.models:
            for kept in models.kept:
                for one in compares:
                    for problem in one(models, kept):
                        yield Found(models.new, problem, kept.name)

    return compare


def each_described(*compares: CompareDescribed) -> Compare:
    """The comparison of all models that compares each field and each member of both sides."""

    def compare(comparison: Comparison) -> Iterator[Found]:
        for models in comparison.models:
            pairs: tuple[Pair, ...] = (*models.kept, *models.members)
            for pair in pairs:
                for one in compares:
                    for problem in one(models, pair):
                        yield Found(models.new, problem, pair.field)

    return compare
