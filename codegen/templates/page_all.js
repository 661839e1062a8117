// The page: its data, the models, and the filters over all of them.

/** JSON whose numbers are exact: sizes go up to 2**63 - 1. */
function parse(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" ? BigInt(context?.source ?? value) : value,
  );
}

const FILTERS = [
  ["model", "Model"],
  ["placement", "Placement"],
  ["device", "Device"],
  ["may", "The manager may"],
  ["survives", "Survives"],
  ["changes", "Changes"],
];

class Page {
  constructor(data) {
    this.data = data;
    this.views = data.models.map((model) => new ModelView(model, data));
    this.rows = this.views.flatMap((view) => view.rows);
    this.form = document.getElementById("filters");
    this.search = element("input", { type: "search", id: "search", name: "search", spellcheck: false });
    this.selects = new Map(FILTERS.map(([key, label]) => [key, this.select(key, label)]));
    this.count = element("output", { role: "status" });
    this.clear = element("button", { type: "reset", hidden: true }, "Show all");
    this.none = element("p", { className: "none", hidden: true }, "No field is like that.");
    this.overview = new Overview(this.views);
    this.build();
    this.listen();
    this.filter();
  }

  select(key, label) {
    const known = new Set(this.rows.flatMap((row) => row.facts[key]));
    const options = [...known].map((value) => element("option", { value }, value));
    const first = element("option", { value: "" }, "any");
    return { known, label, select: element("select", { id: `filter-${key}`, name: key }, first, options) };
  }

  build() {
    const shown = [...this.selects.values()].filter(({ known }) => known.size > 1);
    this.form.append(
      labelled("Search", this.search, "search"),
      ...shown.map(({ label, select }) => labelled(label, select)),
      element("div", { className: "state" }, this.count, this.clear),
    );
    const main = document.getElementById("models");
    const top = [changesSection(this.data), this.overview.table].filter(Boolean);
    main.append(...top, this.none, ...this.views.map((view) => view.section));
  }

  listen() {
    this.form.addEventListener("input", () => this.filter());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", () => setTimeout(() => this.filter()));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      this.search.focus();
    });
  }

  /** Hide the fields that are not asked for, and the models of which none is left. */
  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [...this.selects].filter(([, { select }]) => select.value);
    const fits = (row) =>
      wanted.every(([key, { select }]) => row.facts[key].includes(select.value)) &&
      words.every((word) => row.text.includes(word));
    let count = 0;
    for (const view of this.views) {
      const fitting = view.rows.filter((row) => !(row.row.hidden = !fits(row))).length;
      const all = view.rows.length;
      view.section.hidden = fitting === 0;
      view.shown.hidden = fitting === all;
      view.shown.textContent = `${fitting} of ${plural(all, "field")}; totals are of all.`;
      this.overview.show(view, fitting);
      count += fitting;
    }
    const filtered = count < this.rows.length || words.length > 0 || wanted.length > 0;
    this.count.textContent = `${count} of ${plural(this.rows.length, "field")}`;
    this.clear.hidden = !filtered;
    this.none.hidden = count > 0;
  }
}

const labelled = (label, input, className) =>
  element("div", { className }, element("label", { htmlFor: input.id }, label), input);

/** All models below each other: a way in, and their bytes to one scale. */
class Overview {
  constructor(views) {
    this.views = views;
    this.entries = new Map();
    if (views.length < 2) return;
    const body = element("tbody", {}, views.map((view) => this.entry(view)));
    this.table = table("overview", ["Model", "Fields", ...DEVICES, "one session or generation"], body, "Models");
    views.forEach((view) => (view.changed = () => this.measure()));
    this.measure();
  }

  entry(view) {
    const { model, module } = view.model;
    const parts = {
      fields: element("td", { role: "cell" }),
      amounts: DEVICES.map(() => element("td", { role: "cell" })),
      bars: DEVICES.map((device) => element("div", { className: `bar ${device}` }, element("i"))),
    };
    const bars = element("td", { role: "cell", className: "bars", "aria-hidden": "true" }, parts.bars);
    const name = element("a", { href: `#${module}`, className: "name" }, model);
    parts.row = element(
      "tr",
      { role: "row" },
      element("th", { scope: "row", role: "rowheader" }, name),
      parts.fields,
      parts.amounts,
      bars,
    );
    this.entries.set(view, parts);
    return parts.row;
  }

  /** Put every model's bytes on the scale of the largest. */
  measure() {
    const most = this.views.flatMap((view) => view.perDevice).map((one) => one ?? 0n).reduce(largest, 1n);
    for (const [view, { amounts, bars }] of this.entries) {
      view.perDevice.forEach((bytes, index) => {
        amounts[index].replaceChildren(bytes === null ? "–" : bytes === 0n ? "" : inUnits(bytes));
        bars[index].hidden = !bytes;
        bars[index].firstChild.style.width = `${percent(bytes ?? 0n, most)}%`;
      });
    }
  }

  show(view, fitting) {
    const entry = this.entries.get(view);
    if (!entry) return;
    entry.row.hidden = fitting === 0;
    const all = view.rows.length;
    entry.fields.textContent = fitting === all ? `${all}` : `${fitting} of ${all}`;
  }
}

new Page(parse(document.getElementById("data").textContent));
// What was opened at a field goes there now that it exists.
document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
