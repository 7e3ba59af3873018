// A chart of a list: one dot with its interval for each name, and a line to compare them with (a forest plot).

// rows: [{ name, after?, value, low, high, reason?, text: () => what the read-out tells }]; after: what follows the name
// however long that is; rule: where that line stands, or
// null; span: two ends between which nothing matters
function listChart({ id, title, about, axis, rows, rule, span = null, legend, table, write }) {
  const wide = !NARROW.matches;
  const longest = Math.max(...rows.map(({ name, after = "" }) => name.length + after.length));
  const step = rows.some((row) => linesOf(row).length > 1) ? 34 : 26;
  const values = rows.flatMap(({ value, low, high }) => [value, low, high]).concat(rule, span ?? []);
  const chart = new Chart({
    id, title, about, legend, table,
    width: wide ? 900 : 340, height: 80 + step * rows.length,
    left: Math.min(wide ? 350 : 124, 24 + 7.6 * longest),
    x: { name: axis, write, domain: domainOf(values.map((value) => (value === null ? null : Number(value)))) },
    y: { name: "", domain: [rows.length - 0.4, -0.6], ticks: [] },
  });
  if (span) chart.add(spanBetween(chart, ...span));
  if (rule !== null) chart.add(ruleAt(chart, rule));
  rows.forEach((row, i) => chart.add(listName(chart, row, i), ...listMarks(chart, row, i)));
  const told = rows.map((row, y) => ({ x: row.value ?? row.low, y, text: row.text })).filter(({ x }) => x !== null);
  addReadout(chart, () => told);
  return chart;
}

// A name that is too long for a narrow screen comes in two lines, parted where it has a blank.
function linesOf({ name, after = "" }) {
  const room = NARROW.matches ? 16 : 46;
  const short = (text, least = 0) => (text.length > room - least ? `${text.slice(0, room - least - 1)}…` : text);
  const blanks = NARROW.matches && name.length + after.length > room
    ? [...name.matchAll(/\s/g)].map(({ index }) => index)
    : [];
  if (!blanks.length) return [short(name, after.length) + after];
  const middle = blanks.reduce((a, b) => (Math.abs(b - name.length / 2) < Math.abs(a - name.length / 2) ? b : a));
  return [short(name.slice(0, middle)), short(name.slice(middle + 1), after.length) + after];
}

function listName(chart, row, i) {
  const x = chart.margin.left - 10;
  const lines = linesOf(row);
  const spans = lines.map((text, k) => (
    shape("tspan", { x, y: chart.y(i) + 4 + 13 * (k - (lines.length - 1) / 2) }, text)
  ));
  const title = shape("title", {}, row.name + (row.after ?? ""));
  return shape("text", { class: "name", "text-anchor": "end" }, title, ...spans);
}

function listMarks(chart, { value, low, high, reason }, i) {
  if (value === null && low === null) {
    return [shape("text", { class: "name", x: chart.margin.left + 6, y: chart.y(i) + 4 }, reasonText(reason ?? ""))];
  }
  const limits = low === null ? [] : [flat(chart, low, high, i)];
  return value === null ? limits : [...limits, dot(chart, value, i, "dot accent")];
}

// Such a chart with a choice of the figure. choices: [{ name, about, rule }]; entries: [{ name, rows, figures }], a
// figure for each choice; words: { choose, entry, dot, rule }, which say what the things are called.
// Where figures have a place, entries stand in that order; below: what else to show of a choice.
function chosenList({ id, choices, start = 0, entries, words, below = () => [] }) {
  const state = remember(id, { place: start });
  const place = node("div", {});
  const show = () => {
    const which = state.place;
    const ordered = [...entries].sort((a, b) => (a.figures[which].place ?? 0) - (b.figures[which].place ?? 0));
    place.replaceChildren(listOfChoice(id, choices[which], which, ordered, words).figure, ...below(which, ordered));
  };
  const choose = (event) => {
    state.place = Number(event.target.value);
    show();
  };
  const option = ({ name }, i) => node("option", { value: i, selected: i === state.place }, name);
  const choice = node("select", { id: `${id}-choice`, onchange: choose }, choices.map(option));
  show();
  return node("div", {}, node("p", {}, node("label", {}, words.choose, " ", choice)), place);
}

function listOfChoice(id, { name, about, rule }, which, entries, words) {
  const rows = entries.map((entry) => {
    const { value, low, high, reason } = entry.figures[which];
    const told = { segment: entry.name, n: entry.rows, value, low, high };
    const after = words.counted ? ` (${writeCount(entry.rows)})` : "";
    return { name: entry.name, after, rows: entry.rows, value, low, high, reason, text: () => t("segments.readout", told) };
  });
  return listChart({
    id: `${id}-chart`, title: name, about, axis: name, rows, rule,
    legend: [{ text: words.dot, look: "dot accent" }].concat(rule === null ? [] : [{ text: words.rule, look: "line rule" }]),
    table: () => ({
      head: [words.entry, t("segments.rows"), name, t("figures.low"), t("figures.high")],
      rows: rows.map((row, i) => [entries[i].name, row.rows, row.value, row.low, row.high]),
    }),
  });
}
