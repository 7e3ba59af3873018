// Predictions against truths, and errors against predictions: points where rows are few, otherwise their density.

// What read-outs tell about a row, about rows in a cell, and about roughly so many of them.
const PREDICTED_TEXTS = ["predicted.point", "predicted.cell", "predicted.about_cell"];
const RESIDUAL_TEXTS = ["predicted.residual_point", "predicted.residual_cell", "predicted.about_residual_cell"];

SECTIONS.predicted = (data) => node("div", { class: "pair" }, predictedChart(data).figure, residualChart(data).figure);

function predictedChart({ predicted, baseline, counted }) {
  const domain = domainOf([...cloudEnds(predicted, 0), ...cloudEnds(predicted, 1)], 0.03);
  const about = predicted.cells ? t("predicted.about_grid") : t("predicted.about");
  const chart = new Chart({
    id: "predicted-chart", title: t("predicted.chart"), about,
    x: { name: t("predicted.truth"), domain }, y: { name: t("predicted.prediction"), domain },
    legend: [
      cloudKey(predicted), { text: t("predicted.right"), look: "line diagonal" },
      ...(baseline === null ? [] : [{ text: t("predicted.always"), look: "line rule" }]),
    ],
    table: () => cloudTable(predicted, [t("predicted.truth"), t("predicted.prediction")]),
  });
  cloudMarks(chart, predicted);
  chart.add(line(chart, domain, domain, "line diagonal"));
  if (baseline !== null) chart.add(levelAt(chart, baseline, "line rule"));
  addReadout(chart, () => cloudPoints(predicted, counted, ...PREDICTED_TEXTS));
  return chart;
}

function residualChart({ residuals, means, counted, confidence }) {
  const ends = [...cloudEnds(residuals, 1), 0, ...(means.low ?? []), ...(means.high ?? [])];
  const chart = new Chart({
    id: "residuals-chart", title: t("predicted.residuals"), about: t("predicted.residuals_about"),
    x: { name: t("predicted.prediction"), domain: domainOf(cloudEnds(residuals, 0), 0.03) },
    y: { name: t("predicted.error"), domain: domainOf(ends, 0.03) },
    legend: [
      cloudKey(residuals),
      { text: means.low ? t("predicted.tenths_sure", { confidence }) : t("predicted.tenths"), look: "dot best" },
    ],
    table: () => cloudTable(residuals, [t("predicted.prediction"), t("predicted.error")]),
  });
  cloudMarks(chart, residuals);
  chart.add(levelAt(chart, 0, "line rule"), line(chart, means.x, means.mean, "line means"));
  means.x.forEach((x, i) => {
    if (means.low && means.low[i] !== null) chart.add(upright(chart, x, means.low[i], means.high[i], "whisker means"));
    chart.add(dot(chart, x, means.mean[i], "dot best"));
  });
  addReadout(chart, () => [
    ...means.x.map((x, i) => ({
      x, y: means.mean[i], text: () => t("predicted.mean", { prediction: x, error: means.mean[i] }),
    })),
    ...cloudPoints(residuals, counted, ...RESIDUAL_TEXTS),
  ]);
  return chart;
}

// ── clouds: { x, y } of points, or { edges: [of x, of y], cells: [places in x, places in y, counts] } ──
function cloudEnds(cloud, axis) {
  if (cloud.cells) return [cloud.edges[axis][0], cloud.edges[axis].at(-1)];
  return axis === 0 ? cloud.x : cloud.y;
}

function cloudKey(cloud) {
  if (cloud.cells) return { text: t("predicted.rows"), look: "bar density" };
  return { text: t("predicted.row"), look: "dot cloud" };
}

function cloudMarks(chart, { x, y, edges, cells }) {
  if (!cells) {
    const size = Math.min(Math.max(70 / Math.sqrt(x.length), 2), 4.5);
    chart.add(...x.map((one, i) => dot(chart, one, y[i], "dot cloud", size)));
    return;
  }
  const most = Math.log1p(cells[2].reduce((a, b) => Math.max(a, b)));
  const width = chart.x(edges[0][1]) - chart.x(edges[0][0]);
  const height = chart.y(edges[1][0]) - chart.y(edges[1][1]);
  cells[2].forEach((count, i) => {
    const place = { x: chart.x(edges[0][cells[0][i]]), y: chart.y(edges[1][cells[1][i] + 1]) };
    const strength = (0.1 + 0.85 * (Math.log1p(count) / most)).toFixed(3);
    chart.add(shape("rect", { class: "bar density", ...place, width, height, "fill-opacity": strength }));
  });
}

function cloudPoints({ x, y, edges, cells }, counted, ofPoint, ofCell, ofAbout) {
  if (!cells) return x.map((one, i) => ({ x: one, y: y[i], text: () => t(ofPoint, { x: one, y: y[i] }) }));
  return cells[2].map((n, i) => {
    const [left, right, low, high] = [
      edges[0][cells[0][i]], edges[0][cells[0][i] + 1], edges[1][cells[1][i]], edges[1][cells[1][i] + 1],
    ];
    const values = { n: counted ? n : Math.round(n), left, right, low, high };
    return { x: (left + right) / 2, y: (low + high) / 2, text: () => t(counted ? ofCell : ofAbout, values) };
  });
}

function cloudTable({ x, y, edges, cells }, names) {
  if (!cells) return { head: names, rows: x.map((one, i) => [one, y[i]]) };
  const ends = names.flatMap((name) => [`${name}, ${t("explorer.from")}`, `${name}, ${t("explorer.to")}`]);
  return {
    head: [...ends, t("segments.rows")],
    rows: cells[2].map((n, i) => [
      edges[0][cells[0][i]], edges[0][cells[0][i] + 1], edges[1][cells[1][i]], edges[1][cells[1][i] + 1], n,
    ]),
  };
}
