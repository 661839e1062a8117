"""The templates: strict about names; for Python they get literals, for Markdown filters escape."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from .markdown import cell, comment_cell


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("codegen"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = cell
    environment.filters["comment_cell"] = comment_cell
    return environment


def render(template: str, view: object) -> str:
    """The template's text for one view object, which it knows as `view`."""
    return _environment().get_template(template).render(view=view)
