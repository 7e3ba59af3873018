// One dot with its interval for each segment, and a line where all rows together stand.

SECTIONS.segments = (data) => {
  const state = remember("segments", { metric: data.metrics.includes("auc") ? "auc" : data.metrics[0] });
  const place = node("div", {});
  const show = () => place.replaceChildren(segmentChart(data, data.metrics.indexOf(state.metric)).figure);
  const options = data.metrics.map((name) => node("option", { value: name, selected: name === state.metric }, metricName(name)));
  const choose = (event) => {
    state.metric = event.target.value;
    show();
  };
  show();
  return node("div", {},
    node("p", {}, node("label", {}, t("segments.figure"), " ", node("select", { id: "segment-metric", onchange: choose }, options))),
    data.count > data.segments.length ? node("p", {}, t("segments.cut", { n: data.count, shown: data.segments.length })) : null,
    place);
};

function segmentChart(data, which) {
  const name = data.metrics[which];
  const whole = data.whole[which];
  const rows = data.segments.map((segment) => ({ ...segment, figure: segment.figures[which] }));
  const values = rows.flatMap(({ figure }) => [figure.value, figure.low, figure.high]).concat(whole.value);
  const wide = !NARROW.matches;
  const chart = new Chart({
    id: "segments-chart", title: metricName(name), about: metricQuestion(name),
    width: wide ? 900 : 340, height: 80 + 26 * rows.length, left: Math.min(wide ? 260 : 112, 24 + 8 * Math.max(...rows.map((row) => row.name.length))),
    x: { name: metricName(name), domain: domainOf(values.map((one) => (one === null ? null : Number(one)))) },
    y: { name: "", domain: [rows.length - 0.4, -0.6], ticks: [] },
    legend: [{ text: t("segments.dot"), look: "dot accent" }, { text: t("segments.whole"), look: "line rule" }],
    table: () => ({
      head: [t("segments.segment"), t("segments.rows"), metricName(name), t("figures.low"), t("figures.high")],
      rows: rows.map((row) => [row.name, row.rows, row.figure.value, row.figure.low, row.figure.high]),
    }),
  });
  if (whole.value !== null) chart.add(ruleAt(chart, whole.value));
  rows.forEach((row, i) => chart.add(...segmentMarks(chart, row, i)));
  const told = rows.map((row, i) => ({ ...row, i })).filter((row) => row.figure.value !== null);
  addReadout(chart, () => told.map(({ name: segment, rows: n, figure, i }) => ({
    x: figure.value, y: i,
    text: () => t("segments.readout", { segment, n, value: figure.value, low: figure.low, high: figure.high }),
  })));
  return chart;
}

function segmentMarks(chart, { name, figure }, i) {
  const room = NARROW.matches ? 15 : 34;
  const short = name.length > room ? `${name.slice(0, room - 1)}…` : name;
  const label = shape("text", { class: "name", x: chart.margin.left - 10, y: chart.y(i) + 4, "text-anchor": "end" }, shape("title", {}, name), short);
  if (figure.value === null) return [label, shape("text", { class: "name", x: chart.margin.left + 6, y: chart.y(i) + 4 }, reasonText(figure.reason ?? ""))];
  const limits = figure.low === null ? [] : [flat(chart, figure.low, figure.high, i)];
  return [label, ...limits, dot(chart, figure.value, i, "dot accent")];
}
