// One field: a row of the table, or a card on a phone.

class FieldRow {
  constructor(field, model) {
    this.field = field;
    this.bytes = element("div");
    this.id = `${model.module}.${field.name}`;
    this.row = this.build();
    this.facts = {
      model: [model.model],
      placement: [field.placement],
      device: [field.device ?? NOTHING],
      may: field.manager_may.length ? field.manager_may : ["carry"],
      survives: field.survives.length ? field.survives : [NOTHING],
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
        element("a", { href: `#${this.id}`, className: "name" }, field.name),
        field.type ? element("span", { className: "type" }, field.type) : null,
      ),
      cell("Placement", element("span", { className: field.placement }, field.placement), kind, bound && small(bound)),
      cell("The manager may", field.manager_may.join(", ") || "carry"),
      cell("Survives", field.survives.join(", ") || "–"),
      cell("Device", field.device ? element("span", { className: field.device }, field.device) : "–"),
      cell("Bytes", this.bytes),
      cell("Reason", this.why()),
    );
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
      const share = this.field.declared > 0n ? ` ${shareOf(one.bytes, this.field.declared)}` : "";
      const sizes = shipped ? "" : " at the shipped sizes";
      return note("Measured", `${one.text},${share}${sizes} (${one.where})`);
    });
    return [...amount(declared).filter(Boolean), bar, ...notes];
  }
}

const NOTHING = "nothing";

const shareOf = (part, whole) => `${Number((part * 1000n) / whole) / 10} % of declared`;

const small = (text) => element("span", { className: "small" }, text);

const note = (label, text) =>
  element("p", { className: "note" }, element("span", { className: "label" }, label), ` ${text}`);

const cell = (label, ...children) =>
  element("td", { role: "cell", "data-label": label }, element("div", {}, children));
