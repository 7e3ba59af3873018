// One dot with its interval for each segment, and a line where all rows together stand.

SECTIONS.segments = (data) => {
  const state = remember("segments", { metric: data.metrics.includes("auc") ? "auc" : data.metrics[0] });
  const place = node("div", {});
  const show = () => place.replaceChildren(segmentChart(data, data.metrics.indexOf(state.metric)).figure);
  const choose = (event) => {
    state.metric = event.target.value;
    show();
  };
  const option = (name) => node("option", { value: name, selected: name === state.metric }, metricName(name));
  const choice = node("select", { id: "segment-metric", onchange: choose }, data.metrics.map(option));
  const shown = { n: data.count, shown: data.segments.length };
  show();
  return node(
    "div", {},
    node("p", {}, node("label", {}, t("segments.figure"), " ", choice)),
    shown.n > shown.shown ? node("p", {}, t("segments.cut", shown)) : null,
    place,
  );
};

function segmentChart({ metrics, segments, whole }, which) {
  const name = metricName(metrics[which]);
  const rows = segments.map((segment) => {
    const { value, low, high, reason } = segment.figures[which];
    const told = { segment: segment.name, n: segment.rows, value, low, high };
    return {
      name: segment.name,
      rows: segment.rows,
      value,
      low,
      high,
      reason,
      text: () => t("segments.readout", told),
    };
  });
  return listChart({
    id: "segments-chart", title: name, about: metricQuestion(metrics[which]), axis: name, rows,
    rule: whole[which].value,
    legend: [{ text: t("segments.dot"), look: "dot accent" }, { text: t("segments.whole"), look: "line rule" }],
    table: () => ({
      head: [t("segments.segment"), t("segments.rows"), name, t("figures.low"), t("figures.high")],
      rows: rows.map((row) => [row.name, row.rows, row.value, row.low, row.high]),
    }),
  });
}
