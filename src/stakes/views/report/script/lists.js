// A chart of a list: one dot with its interval for each name, and a line to compare them with (a forest plot).

// rows: [{ name, value, low, high, reason?, text: () => what the read-out tells }]; rule: where that line stands, or null
function listChart({ id, title, about, axis, rows, rule, legend, table }) {
  const wide = !NARROW.matches;
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const values = rows.flatMap(({ value, low, high }) => [value, low, high]).concat(rule);
  const chart = new Chart({
    id, title, about, legend, table,
    width: wide ? 900 : 340, height: 80 + 26 * rows.length,
    left: Math.min(wide ? 260 : 112, 24 + 8 * longest),
    x: { name: axis, domain: domainOf(values.map((value) => (value === null ? null : Number(value)))) },
    y: { name: "", domain: [rows.length - 0.4, -0.6], ticks: [] },
  });
  if (rule !== null) chart.add(ruleAt(chart, rule));
  rows.forEach((row, i) => chart.add(listName(chart, row, i), ...listMarks(chart, row, i)));
  const told = rows.map((row, y) => ({ x: row.value ?? row.low, y, text: row.text })).filter(({ x }) => x !== null);
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
  if (value === null && low === null) {
    return [shape("text", { class: "name", x: chart.margin.left + 6, y: chart.y(i) + 4 }, reasonText(reason ?? ""))];
  }
  const limits = low === null ? [] : [flat(chart, low, high, i)];
  return value === null ? limits : [...limits, dot(chart, value, i, "dot accent")];
}
