"""The templates: strict about names, and with nothing that escapes; view objects bring literals."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("codegen"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, view: object) -> str:
    """The template's text for one view object, which it knows as `view`."""
    return _environment().get_template(template).render(view=view)
