// What changed since another state of the schemas, where the page was made against one.

const BREAKING = "breaking";
const OTHER = "not breaking";

/** Whether the changes of a field, or of a whole model for null, break, as facts to filter by. */
function changesOf(data, model, field) {
  const found = (data.changes?.rows ?? []).filter(
    (one) => one.model === model && one.field === field,
  );
  const kinds = new Set(found.map((one) => (one.breaking ? BREAKING : OTHER)));
  return kinds.size ? [...kinds] : [NOTHING];
}

function changesSection({ changes, models }) {
  if (!changes) return null;
  const { against, rows } = changes;
  const breaking = rows.filter((one) => one.breaking).length;
  const count = rows.length
    ? `${breaking} breaking, ${rows.length - breaking} not.`
    : "Nothing that a session or its caller would notice.";
  const modules = new Map(models.map((one) => [one.model, one]));
  // The breaking ones first, as they came.
  const sorted = [...rows].sort((a, b) => b.breaking - a.breaking);
  const body = element("tbody", {}, sorted.map((one) => changeRow(one, modules)));
  return element(
    "section",
    { id: "changes", "aria-labelledby": "changes-title" },
    element("h2", { id: "changes-title" }, "Changed since ", element("code", {}, against)),
    element("p", { className: "source" }, count),
    rows.length ? table("changes", ["Where", "Change", "What it means"], body, "Changes") : null,
  );
}

function changeRow(one, models) {
  const model = models.get(one.model);
  const known = one.field === null || model?.fields.some((field) => field.name === one.field);
  const target = model && known ? (one.field === null ? model.module : `${model.module}.${one.field}`) : null;
  const name = one.field === null ? one.model : `${one.model}.${one.field}`;
  const where = target
    ? element("a", { className: "name", href: `#${target}` }, name)
    : element("span", { className: "name" }, name);
  return element(
    "tr",
    { role: "row" },
    element("th", { scope: "row", role: "rowheader" }, where),
    cell("Change", element("code", { className: one.breaking ? "problem" : "" }, one.code)),
    cell(
      "What it means",
      element("p", {}, withCode(one.message)),
      one.hint ? element("p", { className: "note" }, withCode(one.hint)) : null,
    ),
  );
}

/** A message, with what it has in backticks set as code. */
const withCode = (text) =>
  text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
