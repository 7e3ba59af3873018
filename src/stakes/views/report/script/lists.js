// A chart of a list: one dot with its interval for each name, and a line to compare them with (a forest plot).

// rows: [{ name, value, low, high, reason?, text: () => what the read-out tells }]; rule: where that line stands, or
// null; span: two ends between which nothing matters
function listChart({ id, title, about, axis, rows, rule, span = null, legend, table, write }) {
  const wide = !NARROW.matches;
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const values = rows.flatMap(({ value, low, high }) => [value, low, high]).concat(rule, span ?? []);
  const chart = new Chart({
    id, title, about, legend, table,
    width: wide ? 900 : 340, height: 80 + 26 * rows.length,
    left: Math.min(wide ? 260 : 112, 24 + 8 * longest),
    x: { name: axis, write, domain: domainOf(values.map((value) => (value === null ? null : Number(value)))) },
    y: { name: "", domain: [rows.length - 0.4, -0.6], ticks: [] },
  });
  if (span) chart.add(spanBetween(chart, ...span));
  if (rule !== null) chart.add(ruleAt(chart, rule));
  rows.forEach((row, i) => chart.add(listName(chart, row, i), ...listMarks(chart, row, i)));
  const told = rows.map((row, y) => ({ x: row.value, y, text: row.text })).filter(({ x }) => x !== null);
  addReadout(chart, () => told);
  return chart;
}

function listName(chart, { name }, i) {
  const room = NARROW.matches ? 13 : 32;
  const short = name.length > room ? `${name.slice(0, room - 1)}…` : name;
  const place = { x: chart.margin.left - 10, y: chart.y(i) + 4, "text-anchor": "end" };
  return shape("text", { class: "name", ...place }, shape("title", {}, name), short);
}

function listMarks(chart, { value, low, high, reason }, i) {
  if (value === null) {
    return [shape("text", { class: "name", x: chart.margin.left + 6, y: chart.y(i) + 4 }, reasonText(reason ?? ""))];
  }
  const limits = low === null ? [] : [flat(chart, low, high, i)];
  return [...limits, dot(chart, value, i, "dot accent")];
}

// Such a chart with a choice of the figure. choices: [{ name, about, rule }]; entries: [{ name, rows, figures }], a
// figure for each choice; words: { choose, entry, dot, rule }, which say what the things are called.
function chosenList({ id, choices, start = 0, entries, words }) {
  const state = remember(id, { place: start });
  const place = node("div", {});
  const show = () => place.replaceChildren(listOfChoice(id, choices[state.place], state.place, entries, words).figure);
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
    return { name: entry.name, rows: entry.rows, value, low, high, reason, text: () => t("segments.readout", told) };
  });
  return listChart({
    id: `${id}-chart`, title: name, about, axis: name, rows, rule,
    legend: [{ text: words.dot, look: "dot accent" }, { text: words.rule, look: "line rule" }],
    table: () => ({
      head: [words.entry, t("segments.rows"), name, t("figures.low"), t("figures.high")],
      rows: rows.map((row) => [row.name, row.rows, row.value, row.low, row.high]),
    }),
  });
}
