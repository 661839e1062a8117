// The dial: what sizes are computed from. An empty input is the shipped value, or is computed.

class Dial {
  constructor(model, data, changed) {
    this.inputs = new Map();
    this.notes = new Map();
    this.sessions = data.sessions;
    this.model = model;
    const inputs = model.config.map((one) => this.input(one));
    const sessions = { name: "sessions", role: "sessions", size: data.sessions, minimum: 0n };
    this.form = element(
      "form",
      { className: "dial", autocomplete: "off", "aria-label": `Sizes of ${model.model}` },
      element("div", { className: "inputs" }, this.input(sessions), inputs, this.dtypes(data)),
      element("button", { type: "reset", hidden: true }, "Back to the shipped sizes"),
    );
    this.form.addEventListener("input", changed);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    // Inputs have their first values only after the event.
    this.form.addEventListener("reset", () => setTimeout(changed));
  }

  input(one) {
    const id = `${this.model.module}-at-${one.name}`;
    const derived = one.role === "derived";
    const input = element("input", {
      id,
      name: one.name,
      inputMode: "numeric",
      defaultValue: derived ? "" : one.size.toString(),
      title: one.doc ?? (derived ? `${one.name} = ${one.text}; empty: computed` : null),
      spellcheck: false,
      "aria-describedby": `${id}-note`,
    });
    input.addEventListener("keydown", (event) => turn(event, input));
    this.inputs.set(one.name, input);
    const note = element("span", { id: `${id}-note`, className: "small" }, hint(one));
    this.notes.set(one.name, { note, text: hint(one) });
    // A long name needs the room of two.
    const className = one.name.length > 13 ? "wide" : "";
    return element("div", { className }, element("label", { htmlFor: id }, one.name), input, note);
  }

  dtypes(data) {
    const { dtype, fields, module } = this.model;
    this.dtype = null;
    if (!dtype || fields.every((field) => field.elements.every((one) => one.dtype))) return null;
    const names = Object.keys(data.itemsize);
    const options = names.map((name) => element("option", { defaultSelected: name === dtype }, name));
    this.dtype = element("select", { id: `${module}-at-dtype`, name: "dtype" }, options);
    return element(
      "div",
      { className: "wide" },
      element("label", { htmlFor: this.dtype.id }, "dtype"),
      this.dtype,
      element("span", { className: "small" }, "of fields that name none"),
    );
  }

  /** What the inputs say; sessions is null where that is no number. */
  read() {
    const given = new Map([...this.inputs].map(([name, input]) => [name, input.value]));
    const text = given.get("sessions").trim();
    const sessions = /^\d+$/.test(text) ? BigInt(text) : text === "" ? this.sessions : null;
    const dtype = this.dtype?.value ?? this.model.dtype;
    const shipped =
      dtype === this.model.dtype &&
      this.model.config.every((one) => this.inputs.get(one.name).value === this.inputs.get(one.name).defaultValue);
    const still = shipped && this.inputs.get("sessions").value === this.inputs.get("sessions").defaultValue;
    this.form.querySelector("button").hidden = still;
    return { given, sessions, dtype, shipped };
  }

  /** Write what was computed into the inputs that were left empty, and what is wrong below them. */
  show(values, problems) {
    const sessions = this.read().sessions === null ? "A whole number is needed." : undefined;
    for (const [name, input] of this.inputs) {
      const problem = name === "sessions" ? sessions : problems.get(name);
      const { note, text } = this.notes.get(name);
      note.textContent = problem ?? text;
      note.classList.toggle("problem", problem !== undefined);
      if (problem === undefined) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
      input.placeholder = (name === "sessions" ? this.sessions : values.get(name))?.toString() ?? "?";
    }
  }
}

const HINTS = { names: "names", steps: "", dim: "", param: "" };

const hint = (one) => (one.role === "derived" ? `= ${one.text}` : (HINTS[one.role] ?? ""));

/** The arrow keys count, by eight with Shift: sizes of pictures go in such steps. */
function turn(event, input) {
  const direction = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
  const text = input.value.trim() || input.placeholder;
  if (direction === undefined || !/^-?\d+$/.test(text)) return;
  event.preventDefault();
  input.value = (BigInt(text) + direction * (event.shiftKey ? 8n : 1n)).toString();
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
