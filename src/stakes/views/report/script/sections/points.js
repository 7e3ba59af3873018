// Small charts that are all points: dots with intervals, bars or a curve, beside what they should be.

SECTIONS.points = ({ id, charts }) => node(
  "div", { class: "pair" }, charts.map((one, i) => pointsChart(one, `${id}-${i}`).figure),
);

// dots: { x, y, low, high }; bars: { edges, heights, low, high }; curve: { x, y }; what is right is a level or a diagonal.
function pointsChart({ title, about, x, y, dots, bars: columns, curve, level, diagonal, right }, id) {
  const shown = dots ?? { x: [], y: [], low: [], high: [] };
  const ends = columns ? { x: columns.edges, y: [0, ...columns.heights, ...columns.high] } : { x: shown.x, y: [] };
  const known = [...ends.y, ...shown.y, ...shown.low, ...shown.high].filter((one) => one !== null);
  const along = [...ends.x, ...(curve?.x ?? []), ...(diagonal ?? [])];
  const up = [...known, ...(curve?.y ?? []), ...(diagonal ?? []), ...(level === undefined ? [] : [level])];
  const rows = columns
    ? columns.heights.map((height, i) => [columns.edges[i], columns.edges[i + 1], height, columns.low[i], columns.high[i]])
    : (dots ? shown.x.map((one, i) => [one, shown.y[i], shown.low[i], shown.high[i]]) : curve.x.map((one, i) => [one, curve.y[i]]));
  const limits = [t("figures.low"), t("figures.high")];
  const head = columns ? [t("explorer.from"), t("explorer.to"), sentence(y), ...limits] : [sentence(x), sentence(y), ...(dots ? limits : [])];
  const chart = new Chart({
    id, title: sentence(title), about: sentence(about),
    x: { name: sentence(x), domain: domainOf(along, 0.02) }, y: { name: sentence(y), domain: domainOf(up, 0.02) },
    legend: right ? [{ text: sentence(right), look: "line diagonal" }] : [],
    table: () => ({ head, rows }),
  });
  if (columns) chart.add(bars(chart, columns.edges, columns.heights, "bar density"));
  if (level !== undefined) chart.add(levelAt(chart, level));
  if (diagonal) chart.add(line(chart, diagonal, diagonal, "line diagonal"));
  if (curve) chart.add(line(chart, curve.x, curve.y, "line main"));
  const middles = columns ? columns.heights.map((_, i) => (columns.edges[i] + columns.edges[i + 1]) / 2) : shown.x;
  const marked = columns ? { ...columns, y: columns.heights } : shown;
  middles.forEach((place, i) => {
    if (marked.low[i] !== null) chart.add(upright(chart, place, marked.low[i], marked.high[i]));
    if (!columns) chart.add(dot(chart, place, marked.y[i], "dot accent"));
  });
  addReadout(chart, () => (curve ? curve.x.map((one, i) => [one, curve.y[i]]) : middles.map((one, i) => [one, marked.y[i]]))
    .map(([one, other]) => ({ x: one, y: other, text: () => t("points.readout", { x: one, y: other }) })));
  return chart;
}
