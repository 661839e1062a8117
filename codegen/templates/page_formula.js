// Formulas: what codegen/expressions/evaluate.py computes, over BigInt.
"use strict";

const MAX_SIZE = 2n ** 63n - 1n;
const MAX_KEYS = 65536n;

class FormulaError extends Error {}

// Python's: the quotient is rounded down, and the remainder has the sign of the divisor.
const floorDivide = (a, b) => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);

const OPERATE = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "//": floorDivide,
  "%": (a, b) => a - b * floorDivide(a, b),
};

const COMPARE = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

const smallest = (a, b) => (b < a ? b : a);
const largest = (a, b) => (b > a ? b : a);

/** The value of a formula that may be negative; `values` is a Map of BigInt by name. */
function signed(formula, values) {
  if (typeof formula === "bigint") return formula;
  if (typeof formula === "string") return valueOf(formula, values);
  const [operation, ...rest] = formula;
  if (operation === "count") return countKeys(formula, values);
  if (operation in OPERATE) return operated(formula, values);
  const operands = rest.map((operand) => signed(operand, values));
  switch (operation) {
    case "neg":
      return -operands[0];
    case "min":
      return operands.reduce(smallest);
    case "max":
      return operands.reduce(largest);
    case "ceil_div":
      return -floorDivide(-operands[0], nonzero(operands[1], formula, values));
  }
  throw new TypeError(`${operation} is no operation`);
}

/** In the order of the checker, so that of two mistakes both name the same one. */
function operated(formula, values) {
  const [operation, left, right] = formula;
  const [second, first] = [signed(right, values), signed(left, values)];
  if (operation === "//" || operation === "%") nonzero(second, formula, values);
  const result = OPERATE[operation](first, second);
  if (result > MAX_SIZE || result < -MAX_SIZE) {
    throw new FormulaError(`This is more than 2**63 - 1${where(formula, values)}.`);
  }
  return result;
}

/** The value of a formula that is a size. */
function evaluate(formula, values) {
  const value = signed(formula, values);
  if (value < 0n) throw new FormulaError(`This comes out as ${value}${where(formula, values)}.`);
  return value;
}

function valueOf(name, values) {
  if (!values.has(name)) throw new FormulaError(`${name} has no value.`);
  return values.get(name);
}

function nonzero(divisor, formula, values) {
  if (divisor === 0n) throw new FormulaError(`This divides by zero${where(formula, values)}.`);
  return divisor;
}

function holds([operation, left, right], values) {
  switch (operation) {
    case "not":
      return !holds(left, values);
    case "and":
      return holds(left, values) && holds(right, values);
    case "or":
      return holds(left, values) || holds(right, values);
  }
  return COMPARE[operation](signed(left, values), signed(right, values));
}

// Every field kept per axis asks for its keys, and an axis may have thousands.
const counted = new WeakMap();

function countKeys(formula, values) {
  const [, axis, size, condition] = formula;
  const used = where(formula, values);
  const known = counted.get(formula);
  if (known?.used === used) return known.count;
  const keys = evaluate(size, values);
  if (keys > MAX_KEYS) {
    throw new FormulaError(
      `An axis has at most ${MAX_KEYS} keys; this has ${keys}${where(size, values)}.`,
    );
  }
  const inner = new Map(values);
  let count = 0n;
  for (let key = 0n; key < keys; key++) {
    if (holds(condition, inner.set(axis, key))) count++;
  }
  counted.set(formula, { used, count });
  return count;
}

/** The names that a formula needs a value of, in the order of the text. */
function namesIn(formula) {
  if (typeof formula === "string") return [formula];
  if (!Array.isArray(formula)) return [];
  const [operation, ...operands] = formula;
  if (operation !== "count") return operands.flatMap(namesIn);
  const [axis, ...inner] = operands;
  return inner.flatMap(namesIn).filter((name) => name !== axis);
}

function where(formula, values) {
  const used = [...new Set(namesIn(formula))].map((name) => `${name} = ${valueOf(name, values)}`);
  return used.length ? ` at ${used.join(", ")}` : "";
}
