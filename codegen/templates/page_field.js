// One field: a row of the table, or a card on a phone.

class FieldRow {
  constructor(field, model, data) {
    this.field = field;
    this.bytes = element("div");
    this.id = `${model.module}.${field.name}`;
    this.changes = changesOf(data, model.model, field.name);
    this.row = this.build();
    this.facts = {
      model: [model.model],
      placement: [field.placement],
      device: [field.device ?? NOTHING],
      may: field.manager_may.length ? field.manager_may : ["carry"],
      survives: field.survives.length ? field.survives : [NOTHING],
      changes: this.changes,
    };
    this.text = this.row.textContent.toLowerCase();
  }

  build() {
    const { field } = this;
    const kind = field.kind ? ` ${field.kind}` : "";
    const bound = field.placed.split(", ").slice(1).join(", ");
    return element(
      "tr",
      { id: this.id, role: "row" },
      element(
        "th",
        { scope: "row", role: "rowheader" },
        element("a", { href: `#${this.id}`, className: "name" }, breakable(field.name)),
        field.type ? element("span", { className: "type" }, field.type) : null,
        this.changes.includes(NOTHING) ? null : this.mark(),
      ),
      cell("Placement", element("span", { className: field.placement }, field.placement), kind, bound && small(breakable(bound))),
      cell("The manager may", field.manager_may.join(", ") || "carry"),
      cell("Survives", breakable(field.survives.join(", ") || "–")),
      cell("Device", field.device ? element("span", { className: field.device }, field.device) : "–"),
      cell("Bytes", this.bytes),
      cell("Reason", this.why()),
    );
  }

  mark() {
    const problem = this.changes.includes(BREAKING) ? " problem" : "";
    return element("a", { className: `small${problem}`, href: "#changes" }, "changed");
  }

  why() {
    const { reason, revisit, rebuilt_from: rebuilt, cleared_with: along } = this.field;
    const paragraphs = reason.trim().split(/\n\s*\n/).map((text) => element("p", {}, text));
    const sources = rebuilt?.sources.join(", ");
    return [
      ...paragraphs,
      revisit ? note("Revisit when", revisit) : null,
      rebuilt ? note("Rebuilt from", `${sources}, at ${rebuilt.cost}: ${rebuilt.doc}`) : null,
      along.length ? note("Cleared with", [...new Set(along)].join(", ")) : null,
    ];
  }

  /** Show what the field declares, beside the most that any field does; a text says why not. */
  update(declared, most, shipped) {
    if (!this.field.device) {
      this.bytes.replaceChildren("–");
    } else if (typeof declared === "bigint") {
      this.bytes.replaceChildren(...this.measure(declared, most, shipped));
    } else {
      this.bytes.replaceChildren(element("span", { className: "problem" }, declared));
    }
  }

  /** What is staged lies beside what is committed, and both are declared. */
  twice(declared) {
    if (!this.field.manager_may.includes("stage")) return null;
    return small(`2 × ${inUnits(declared / 2n)}, committed and staged`);
  }

  measure(declared, most, shipped) {
    const { device, measured } = this.field;
    const bar = element("div", { className: `bar ${device}`, "aria-hidden": "true" }, element("i"));
    bar.firstChild.style.width = `${percent(declared, most)}%`;
    const notes = measured.map((one) => {
      if (shipped) {
        const tick = element("b");
        tick.style.left = `${Math.min(100, percent(one.bytes, most))}%`;
        bar.append(tick);
      }
      const share = this.field.declared > 0n ? shareOf(one.bytes, this.field.declared) : null;
      const sizes = shipped ? "" : " at the shipped sizes";
      const made = note(
        "Measured",
        share === null ? one.text : `${one.text}, ${share} % of declared${sizes}`,
        ` (${one.where})`,
      );
      made.classList.toggle("problem", share > 100n);
      return made;
    });
    return [...amount(declared).filter(Boolean), this.twice(declared), bar, ...notes].filter(Boolean);
  }
}

const NOTHING = "nothing";

/** Rounded to whole per cents, since what was measured is rarely written more exactly. */
const shareOf = (part, whole) => (part * 200n + whole) / (whole * 2n);

const small = (...texts) => element("span", { className: "small" }, texts);

const note = (label, ...texts) =>
  element("p", { className: "note" }, element("span", { className: "label" }, `${label}: `), texts);

const cell = (label, ...children) =>
  element("td", { role: "cell", "data-label": label }, element("div", {}, children));
