"""One HTML file that needs nothing else: its style, its script and its data are in it.

The policy in its head allows that very style and that very script, by their hashes, and no network.
Text of a schema is in the data alone, which no browser runs or reads as HTML.
"""

import base64
import hashlib
import json
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .document import Object

_STYLE = ("page.css",)
_SCRIPT = tuple(
    f"page_{part}.js"
    for part in ("formula", "text", "graph", "changes", "dial", "field", "model", "all")
)
# None of them has a meaning in JSON outside a string, and all are dangerous in a script element.
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def page(data: Object) -> str:
    """The page that shows a document of `document()`."""
    style, script = joined(_STYLE), joined(_SCRIPT)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            policy=f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}",
            style=Markup(style),
            script=Markup(script),
            data=Markup(json.dumps(data, separators=(",", ":")).translate(_ESCAPED)),
        )
    )


@cache
def environment() -> Environment:
    """The templates of pages: strict about names, and escaping all that is not Markup."""
    return Environment(loader=PackageLoader("codegen"), undefined=StrictUndefined, autoescape=True)


def joined(names: tuple[str, ...]) -> str:
    """Files of the templates' folder, one after the other, as they are."""
    made = environment()
    assert made.loader is not None
    parts = (made.loader.get_source(made, name)[0] for name in names)
    return "\n" + "\n".join(parts)


def hash_of(text: str) -> str:
    """A style or script as the policy in a page's head names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
