// Numbers as the language of the page writes them.

const formatters = new Map();
function formatter(options) {
  const key = language + JSON.stringify(options);
  if (!formatters.has(key)) {
    const made = new Intl.NumberFormat(language, options);
    formatters.set(key, { format: (value) => made.format(value).replace("-", "−") });
  }
  return formatters.get(key);
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// 1.23·10⁻⁷ instead of 1.23E-7.
function writePowerOfTen(value) {
  const [digits, power] = value.toExponential(2).split("e");
  const raised = [...power.replace("+", "")].map((sign) => RAISED[sign]).join("");
  return `${formatter({ maximumSignificantDigits: 3 }).format(Number(digits))}·10${raised}`;
}

function infinite(value) {
  return value > 0 ? "∞" : "−∞";
}

// A figure: four decimals, five digits from 10 on, or as many as a very large or small number needs.
function writeNumber(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return infinite(value);
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-300) return `<${writePowerOfTen(1e-300)}`;
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return writePowerOfTen(value);
  if (size >= 1e3) return formatter({ maximumFractionDigits: 2 }).format(value);
  if (size >= 10) return formatter({ maximumSignificantDigits: 5 }).format(value);
  if (size !== 0 && size < 1e-2) return formatter({ maximumSignificantDigits: 3 }).format(value);
  return formatter({ minimumFractionDigits: 4, maximumFractionDigits: 4 }).format(value);
}

// A p-value: one that no float tells from 0 is written as the smallest are.
function writeChance(value) {
  return writeNumber(value === 0 ? Number.MIN_VALUE : value);
}

// A round number, such as an axis has.
function writeTick(value) {
  return formatter({ maximumSignificantDigits: 6 }).format(value);
}

function writeCost(value) {
  if (value === null || Number.isNaN(value)) return "–";
  return Number.isFinite(value) ? formatter({ maximumSignificantDigits: 5 }).format(value) : infinite(value);
}

// An amount of a currency: two decimals or none, and none from 1,000 on; three digits below 1.
function writeMoney(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return infinite(value);
  const size = Math.abs(value);
  if (size < 1) return formatter({ maximumSignificantDigits: 3 }).format(value);
  const decimals = size >= 1e3 || Number.isInteger(value) ? 0 : 2;
  return formatter({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);
}

function writeCount(value) {
  if (value === null || Number.isNaN(value)) return "–";
  return formatter({ maximumFractionDigits: Number.isInteger(value) || value >= 1e4 ? 0 : 1 }).format(value);
}

// One decimal, and more where everything happens near 0 or 1.
function writePercent(value) {
  if (value === null || Number.isNaN(value)) return "–";
  const room = Math.min(value, 1 - value);
  const digits = room > 0 && room < 0.01 ? 3 : 1;
  return formatter({ style: "percent", maximumFractionDigits: digits }).format(value);
}

// A share in as little room as possible: what is neither nothing nor all is not written as such.
function writeShare(value) {
  if (value > 0 && value < 0.005) return `<${formatter({ style: "percent" }).format(0.01)}`;
  if (value < 1 && value > 0.995) return `>${formatter({ style: "percent" }).format(0.99)}`;
  return formatter({ style: "percent", maximumFractionDigits: 0 }).format(value);
}

function writeExact(value) {
  if (value === null || Number.isNaN(value)) return "–";
  return Number.isFinite(value) ? formatter({ maximumSignificantDigits: 6 }).format(value) : infinite(value);
}

// With as many digits as tell it from its neighbours, two at least and six at most.
function writeApart(value, neighbours) {
  if (!Number.isFinite(value)) return infinite(value);
  const others = neighbours.filter((one) => Number.isFinite(one) && one !== value);
  const digits = [2, 3, 4, 5].find((few) => others.every((one) => one.toPrecision(few) !== value.toPrecision(few)));
  return formatter({ maximumSignificantDigits: digits ?? 6 }).format(value);
}

const FORMATS = {
  number: writeNumber, p: writeChance, short: writeCost, cost: writeCost, money: writeMoney,
  count: writeCount, percent: writePercent, exact: writeExact,
};

function writeInterval(low, high, write = writeNumber) {
  return low === null || low === undefined ? "–" : `${write(Number(low))} – ${write(Number(high))}`;
}

// What people type: a point or a comma for the decimals, blanks between thousands, a per cent sign.
function readNumber(text) {
  const plain = text.trim().replace(/[\s\u00a0\u202f%]/g, "").replace("−", "-").replace(",", ".");
  if (/^\+?(∞|inf|infinity)$/i.test(plain)) return Infinity;
  return plain === "" ? NaN : Number(plain);
}
