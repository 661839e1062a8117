"""A place in a schema file."""

from attrs import frozen


@frozen(order=True)
class Span:
    """Where something was written: one-based line and column, the end column exclusive.

    Columns count characters after a byte order mark, not bytes and not screen cells.
    """

    line: int
    column: int
    end_line: int
    end_column: int
