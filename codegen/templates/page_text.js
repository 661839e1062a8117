// Elements and texts. Whatever a schema says is set as text, never as HTML.

/** An element with properties; children are elements or texts, and null is left out. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (property in made) made[property] = value;
    else made.setAttribute(property, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return made;
}

/** A name that may break after an underscore where it must break. */
const breakable = (name) =>
  name.split(/(?<=_)(?=.)/).flatMap((part, index) => (index ? [element("wbr"), part] : [part]));

const UNITS = [
  ["GiB", 1n << 30n],
  ["MiB", 1n << 20n],
  ["KiB", 1n << 10n],
];

const grouped = (count) => count.toString().replace(/\B(?=(\d{3})+$)/g, ",");

/** Bytes in the largest binary unit that they fill; half a hundredth goes to the even one. */
function inUnits(count) {
  const unit = UNITS.find(([, size]) => count >= size);
  if (!unit) return `${grouped(count)} B`;
  const [name, size] = unit;
  let hundredths = (count * 100n) / size;
  const rest = ((count * 100n) % size) * 2n;
  if (rest > size || (rest === size && hundredths % 2n)) hundredths++;
  const [whole, fraction] = [hundredths / 100n, hundredths % 100n];
  return `${grouped(whole)}.${fraction.toString().padStart(2, "0")} ${name}`;
}

/** As the decision table writes them: in units, and exactly. */
function bytesText(count) {
  const short = inUnits(count);
  return count < 1024n ? short : `${short} (${grouped(count)})`;
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A part of a whole, in per cent for a length on the page. */
const percent = (part, whole) => (whole > 0n ? Number((part * 10000n) / whole) / 100 : 0);
