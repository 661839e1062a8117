"""Text of a schema is shown as text, and the page reaches for nothing outside itself."""

import re

import attrs

from codegen.model import Elsewhere, Field, Schema

from .conftest import Open, document_of, loaded

HOSTILE = (
    "<script>window.ran = true</script>",
    "</script><script>window.ran = true</script>",
    "<!-- <script>",
    "]]><svg onload='window.ran = true'>",
    "<img src=x onerror='window.ran = true'>",
    '"\' onfocus=window.ran=true autofocus x="',
    "{{ 7*7 }}{% raw %}{# gone #}${window.ran = true}`",
    "&lt;b&gt; &amp; &#x41; \\u003cb\\u003e",
    "javascript:window.ran=true",
    "a\u2028b\u2029c",
    "\N{RIGHT-TO-LEFT OVERRIDE}reversed",
    "\ud800 alone",
    "日本語 " * 30,
    "unbroken" * 60,
)

PLAIN = """\
schema: 1
model: Plain
class: PlainSession
scope: session
doc: placeholder
params: {size: {type: int, default: 2, doc: placeholder}}
resets: {session: placeholder}
horizon: 3
fields:
  source: {placement: attr, type: Tensor | None, shape: [2], dtype: uint8, reason: The model alone assigns it.}
  value:
    placement: object
    kind: EncodeOnce
    type: Tensor
    shape: [size]
    dtype: uint8
    manager_may: [rebuild]
    recompute: {from: [source, other], cost: size, doc: placeholder}
    reason: placeholder
    revisit: placeholder
    measured: [{bytes: 3 KiB, where: placeholder}]
elsewhere: {other: {owner: placeholder, reason: placeholder}}
"""


def with_text(text: str) -> Schema:
    """A schema whose every free text is `text`."""
    plain = loaded(PLAIN)

    def field(one: Field) -> Field:
        return attrs.evolve(
            one,
            reason=text,
            revisit=text,
            recompute=one.recompute and attrs.evolve(one.recompute, doc=text),
            measured=tuple(attrs.evolve(each, where=text) for each in one.measured),
        )

    def other(one: Elsewhere) -> Elsewhere:
        return attrs.evolve(one, owner=text, reason=text)

    return attrs.evolve(
        plain,
        path=text,
        model=text,
        doc=text,
        params=tuple(attrs.evolve(one, doc=text) for one in plain.params),
        fields=tuple(map(field, plain.fields)),
        elsewhere=tuple(map(other, plain.elsewhere)),
    )


def visible(text: str) -> str:
    """A text as a browser takes it: UTF-8 knows no half of a pair, and lines are laid out anew."""
    return re.sub(r"\s+", " ", text.replace("\ud800", "\ufffd")).strip()


def test_text_stays_text(open_page: Open) -> None:
    """Whatever a text holds, it is read as it was written and adds no element to the page."""
    skeleton = "() => [...document.querySelectorAll('*')].map((one) => one.tagName).join(' ')"
    plain = open_page(document_of(with_text("placeholder"))).js(skeleton)
    for text in HOSTILE:
        opened = open_page(document_of(with_text(text)))
        assert plain == opened.js(skeleton), text
        assert opened.js("() => window.ran === undefined"), text
        for selector in ("h2", ".doc", ".source", "[id$='.value'] [data-label=Reason]", "dt", "dd"):
            assert visible(text) in visible(opened.find(selector).first.text_content() or ""), text


def test_the_page_may_reach_nothing(open_page: Open) -> None:
    """The policy stops a request, and a script or a style that is not the page's own."""
    opened = open_page(document_of(loaded(PLAIN)))
    refused = opened.js(
        """async () => {
          const added = (name, text) => {
            const made = document.createElement(name);
            made.textContent = text;
            document.body.append(made);
          };
          const broken = [];
          document.addEventListener(
            "securitypolicyviolation", (event) => broken.push(event.effectiveDirective));
          await fetch("https://example.invalid/").catch(() => {});
          added("script", "window.ran = true");
          added("style", "body { display: none }");
          await new Promise((done) => setTimeout(done, 100));
          return [broken.sort(), window.ran === undefined, getComputedStyle(document.body).display];
        }"""
    )
    assert [["connect-src", "script-src-elem", "style-src-elem"], True, "block"] == refused
    # What the browser says about it is what was asked for here.
    opened.complaints.clear()
