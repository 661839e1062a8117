"""A plan as one HTML file without a script; it looks like the page of the decision table."""

from collections.abc import Iterator, Sequence

from attrs import frozen
from markupsafe import Markup

from ..emit.table import in_units
from ..page.html import environment, hash_of, joined
from .charts import HEIGHT, STYLE, WIDTH, charts
from .document import Plan
from .svg import element
from .text import cells, headings, largest_first, notes, setting, verdict


@frozen
class _Line:
    """A row of the table of bytes."""

    name: str
    device: str
    cells: Sequence[str]


@frozen
class _Reset:
    name: str
    doc: str
    stays: Sequence[str]
    fields: str


@frozen
class _Section:
    """One model's plan, as the template reads it."""

    model: str
    module: str
    class_name: str
    path: str
    setting: str
    charts: Sequence[Markup]
    headings: Sequence[str]
    fields: Sequence[_Line]
    totals: Sequence[_Line]
    devices: Sequence[str]
    resets: Sequence[_Reset]
    verdict: Sequence[str]
    notes: Sequence[str]


def page(plans: Sequence[Plan]) -> str:
    """The plans of all models, with their charts."""
    style = joined(("page.css", STYLE, "page_plan.css"))
    return (
        environment()
        .get_template("page_plan.html.j2")
        .render(
            policy=f"default-src 'none'; style-src {hash_of(style)}",
            style=Markup(style),
            sections=[_section(plan) for plan in plans],
        )
    )


def _section(plan: Plan) -> _Section:
    one = plan.session
    schema = one.schema
    return _Section(
        model=schema.model,
        module=schema.module,
        class_name=schema.class_name,
        path=plan.path,
        setting=setting(one),
        charts=[_alone(chart) for chart in charts(plan)],
        headings=headings(one),
        fields=[_Line(field.name, field.device, cells(one, field)) for field in largest_first(one)],
        totals=[_Line("all", held.device, cells(one, held)) for held in one.devices],
        devices=[held.device for held in one.devices],
        resets=list(_resets(plan)),
        verdict=list(verdict(plan)),
        notes=list(notes(one)),
    )


def _alone(chart: Markup) -> Markup:
    """A chart as a picture of its own."""
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", chart, class_="chart", viewBox=box, width=WIDTH, height=HEIGHT)


def _resets(plan: Plan) -> Iterator[_Reset]:
    one = plan.session
    for reset in one.schema.resets:
        stays = one.staying(reset.name)
        fields = [field.name for field in largest_first(one) if reset.name in field.survives]
        amounts = [in_units(stays[held.device]) for held in one.devices]
        yield _Reset(reset.name, reset.doc, amounts, ", ".join(fields) or "–")
