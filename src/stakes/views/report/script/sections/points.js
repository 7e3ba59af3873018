// Small charts that are all points: dots with intervals, bars or a curve, beside what they should be.

SECTIONS.points = ({ id, charts }) => node(
  "div", { class: "pair" }, charts.map((one, i) => pointsChart(one, `${id}-${i}`).figure),
);

// dots: { x, y, low, high }; bars: { edges, heights, low, high }; curve: { x, y }. Right is a level, or a diagonal.
function pointsChart({ title, about, x, y, dots, bars: columns, curve, level, diagonal, right }, id) {
  const shown = dots ?? { x: [], y: [], low: [], high: [] };
  const ends = columns ? { x: columns.edges, y: [0, ...columns.heights, ...columns.high] } : { x: shown.x, y: [] };
  const known = [...ends.y, ...shown.y, ...shown.low, ...shown.high].filter((one) => one !== null);
  const along = [...ends.x, ...(curve?.x ?? []), ...(diagonal ?? [])];
  const up = [...known, ...(curve?.y ?? []), ...(diagonal ?? []), ...(level === undefined ? [] : [level])];
  const limits = [t("figures.low"), t("figures.high")];
  const table = () => {
    if (columns) {
      const { edges, heights, low, high } = columns;
      const head = [t("explorer.from"), t("explorer.to"), sentence(y), ...limits];
      return { head, rows: heights.map((height, i) => [edges[i], edges[i + 1], height, low[i], high[i]]) };
    }
    if (!dots) return { head: [sentence(x), sentence(y)], rows: curve.x.map((one, i) => [one, curve.y[i]]) };
    const rows = shown.x.map((one, i) => [one, shown.y[i], shown.low[i], shown.high[i]]);
    return { head: [sentence(x), sentence(y), ...limits], rows };
  };
  const chart = new Chart({
    id, title: sentence(title), about: sentence(about),
    x: { name: sentence(x), domain: domainOf(along, 0.02) }, y: { name: sentence(y), domain: domainOf(up, 0.02) },
    legend: right ? [{ text: sentence(right), look: "line diagonal" }] : [],
    table,
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
  const places = curve ?? { x: middles, y: marked.y };
  addReadout(chart, () => places.x.map((one, i) => (
    { x: one, y: places.y[i], text: () => t("points.readout", { x: one, y: places.y[i] }) }
  )));
  return chart;
}
