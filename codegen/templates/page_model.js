// One model: its dial, its table, and what depends on what.

const DEVICES = ["accelerator", "host"];

/** Everything that sizes are computed from, at what a dial says; `problems` by name. */
function valuesAt(model, given) {
  const values = new Map();
  const problems = new Map();
  for (const one of model.config) {
    const text = given.get(one.name)?.trim() ?? "";
    try {
      if (text !== "" && !/^-?\d+$/.test(text)) throw new FormulaError("A whole number is needed.");
      const value = text === "" ? signed(one.size, values) : BigInt(text);
      values.set(one.name, within(one, value));
    } catch (error) {
      problems.set(one.name, message(error));
    }
  }
  return { values, problems };
}

function within({ minimum, maximum }, value) {
  if (minimum != null && value < minimum) throw new FormulaError(`At least ${minimum}, not ${value}.`);
  if (maximum != null && value > maximum) throw new FormulaError(`At most ${maximum}, not ${value}.`);
  return value;
}

function message(error) {
  if (error instanceof FormulaError) return error.message;
  throw error;
}

/** The bytes of each field: a BigInt, or the text that says why there is none. */
function declaredBytes(model, values, itemsize, dtype) {
  return model.fields.map((field) => {
    let bytes = 0n;
    try {
      for (const { dtype: own, sizes } of field.elements) {
        const size = BigInt(itemsize[own ?? dtype] ?? 1n);
        for (const term of sizes) bytes += size * evaluate(term, values);
      }
      return bytes;
    } catch (error) {
      return message(error);
    }
  });
}

class ModelView {
  constructor(model, data) {
    this.model = model;
    this.itemsize = data.itemsize;
    this.sessions = data.sessions;
    this.shipped = true;
    this.rows = model.fields.map((field) => new FieldRow(field, model, data));
    this.totals = element("tbody");
    this.dial = new Dial(model, data, () => this.update());
    this.shown = element("p", { className: "shown", hidden: true });
    this.section = this.build();
    this.update();
  }

  build() {
    const { model } = this;
    return element(
      "section",
      { id: model.module, className: "model", "aria-labelledby": `${model.module}-title` },
      element("h2", { id: `${model.module}-title` }, model.model),
      element(
        "p",
        { className: "source" },
        element("code", {}, model.class),
        element("span", {}, `one per ${model.scope}`),
        element("code", {}, model.path),
      ),
      model.doc.trim().split(/\n\s*\n/).map((text) => element("p", { className: "doc" }, text)),
      element(
        "div",
        { className: "sizes" },
        this.dial.form,
        (this.totalsTable = table("totals", [], this.totals)),
      ),
      this.shown,
      table(
        "fields",
        ["Value", "Placement", "The manager may", "Survives", "Device", "Bytes", "Reason"],
        element("tbody", {}, this.rows.map((row) => row.row)),
        `The fields of ${model.model}`,
      ),
      this.records(),
      this.others(),
      this.graph(),
    );
  }

  records() {
    const entries = this.model.records.flatMap((one) => [
      element("dt", {}, element("code", {}, one.name)),
      ...one.members.map((member) => element("dd", {}, memberOf(member))),
    ]);
    return aside("records", "Records", entries);
  }

  others() {
    const entries = this.model.elsewhere.flatMap((one) => [
      element("dt", {}, element("code", {}, one.name), ` ${one.owner}`),
      element("dd", {}, one.reason),
    ]);
    return aside("others", "Kept by others", entries);
  }

  graph() {
    const { edges, elsewhere, module, model } = this.model;
    if (!edges.length) return null;
    const others = new Set(elsewhere.map((one) => one.name));
    const scroll = { className: "scroll", tabIndex: 0, role: "group", "aria-label": `Dependencies in ${model}` };
    return element(
      "figure",
      {},
      element("h3", {}, "What depends on what"),
      element("div", scroll, graph(edges, module, others)),
      element(
        "figcaption",
        {},
        edges.some((one) => one.rebuilds) ? key("rebuilds", "rebuilds") : null,
        edges.every((one) => one.rebuilds) ? null : key("takes", "when cleared or replaced, clears"),
        edges.some((one) => others.has(one.source)) ? key("other", "kept by others") : null,
      ),
    );
  }

  /** Compute every number again, at what the dial says. */
  update() {
    const { given, sessions, dtype, shipped } = this.dial.read();
    const { values, problems } = valuesAt(this.model, given);
    this.dial.show(values, problems);
    const bytes = declaredBytes(this.model, values, this.itemsize, dtype);
    const numbers = bytes.filter((one) => typeof one === "bigint");
    const most = numbers.reduce(largest, 1n);
    this.rows.forEach((row, index) => row.update(bytes[index], most, shipped));
    this.perDevice = DEVICES.map((device) =>
      bytes.reduce(
        (sum, one, index) =>
          this.model.fields[index].device !== device || sum === null
            ? sum
            : typeof one === "bigint" ? sum + one : null,
        0n,
      ),
    );
    this.showTotals(sessions, values.get("steps"));
    this.changed?.();
  }

  showTotals(sessions, steps) {
    const { unit } = this.model;
    const after = steps === undefined ? "" : ` after ${plural(grouped(steps), "step")}`;
    const many = sessions === null ? `? ${unit}s` : plural(grouped(sessions), unit);
    this.totalsTable.tHead.replaceChildren(headings([`Declared${after}`, `one ${unit}`, many]));
    const rows = DEVICES.flatMap((device, index) => {
      const one = this.perDevice[index];
      if (one === 0n && !this.model.fields.some((field) => field.device === device)) return [];
      const all = one === null || sessions === null ? null : one * sessions;
      return element(
        "tr",
        { "data-device": device },
        element("th", { scope: "row", className: device }, device),
        element("td", {}, amount(one)),
        element("td", {}, amount(all)),
      );
    });
    this.totals.replaceChildren(...rows);
  }
}

/** What belongs to the model and to no field alone; nothing where there is none of it. */
function aside(className, title, entries) {
  if (!entries.length) return null;
  return element("div", { className }, element("h3", {}, title), element("dl", {}, entries));
}

function memberOf({ name, type, shapes, dtype }) {
  const seen = [shapes.join(" + "), dtype].filter(Boolean).join(", ");
  return [element("code", {}, name), `: ${type}${seen && " "}${seen}`];
}

const key = (kind, text) => element("span", { className: `key ${kind}` }, text);

/** Bytes for reading, and exactly below; a dash where a size has no value. */
function amount(bytes) {
  if (bytes === null) return "–";
  const exact = bytes < 1024n ? null : element("span", { className: "exact" }, grouped(bytes));
  return [element("span", { className: "about" }, inUnits(bytes)), exact && " ", exact];
}

const headings = (names) =>
  element("tr", {}, names.map((name) => element("th", { scope: "col", role: "columnheader" }, name)));

// Roles are spelled out: as cards on a phone, the elements are no longer laid out as a table.
function table(className, names, body, label) {
  body.setAttribute("role", "rowgroup");
  return element(
    "table",
    { className, role: "table", "aria-label": label },
    element("thead", { role: "rowgroup" }, headings(names)),
    body,
  );
}
