// Do things happen as often as the probabilities say?

SECTIONS.calibration = (data) => node(
  "div", {},
  node("p", { class: "intro" }, t("calibration.intro"), data.at_prior ? ` ${t("verdict.honest_of_rows")}` : ""),
  node(
    "div", { class: "pair" },
    reliabilityChart(data).figure,
    node("div", { class: "stack" }, honestyCard(data), lossCard(data)),
  ),
);

function reliabilityChart({ bins, curve, band: honest }) {
  const axis = { domain: [0, 1] };
  const chart = new Chart({
    id: "reliability", title: t("calibration.chart"), about: t("calibration.about"),
    x: { ...axis, name: t("calibration.said") }, y: { ...axis, name: t("calibration.happened") },
    legend: [
      { text: t("calibration.bins"), look: "dot accent" }, { text: t("calibration.rising"), look: "line main" },
      ...(honest ? [{ text: t("calibration.honest"), look: "band honest" }] : []),
    ],
    table: () => ({
      head: [t("calibration.said"), t("calibration.happened"), t("figures.low"), t("figures.high"), t("segments.rows")],
      rows: bins.rows.map((n, i) => [bins.mean_probability[i], bins.frequency[i], bins.low[i], bins.high[i], n]),
    }),
  });
  if (honest) chart.add(band(chart, honest.probability, honest.low, honest.high, "band honest"));
  chart.add(line(chart, [0, 1], [0, 1], "line diagonal"), line(chart, curve.probability, curve.frequency, "line main"));
  bins.rows.forEach((_, i) => {
    if (bins.low[i] !== null) chart.add(upright(chart, bins.mean_probability[i], bins.low[i], bins.high[i]));
    chart.add(dot(chart, bins.mean_probability[i], bins.frequency[i], "dot accent"));
  });
  addReadout(chart, () => bins.rows.map((n, i) => ({
    x: bins.mean_probability[i], y: bins.frequency[i],
    text: () => t(
      "calibration.readout",
      { n, said: bins.mean_probability[i], happened: bins.frequency[i], low: bins.low[i], high: bins.high[i] },
    ),
  })));
  return chart;
}

function honestyCard({ line: [slope, shift], ece }) {
  const row = (name, figure, words) => [
    name,
    figureCell(figure),
    node("span", { class: "limits" }, writeInterval(figure.low, figure.high)),
    node("span", { class: "words" }, words),
  ];
  const rows = [
    row(t("calibration.slope"), slope, t("calibration.slope_means")),
    row(t("calibration.shift"), shift, t("calibration.shift_means")),
    row(metricName("ece"), ece, t("calibration.ece_means")),
  ];
  const head = [t("figures.name"), t("figures.value"), t("calibration.limits"), t("calibration.meaning")];
  return node("div", { class: "card" }, tableOf(head, rows, { caption: t("calibration.line") }));
}

function lossCard({ losses }) {
  const parts = ["score", "miscalibration", "discrimination", "uncertainty"];
  const head = [
    t("calibration.loss"),
    t("calibration.score"),
    t("calibration.miscalibration"),
    t("calibration.discrimination"),
    t("calibration.uncertainty"),
  ];
  const rows = losses.map((loss) => [metricName(loss.name), ...parts.map((part) => figureCell(loss[part]))]);
  const csv = () => ({ head, rows: losses.map((loss) => [loss.name, ...parts.map((part) => loss[part].value)]) });
  return node(
    "div", { class: "card" },
    tableOf(head, rows, { caption: t("calibration.parts"), id: "losses", csv }),
    node("p", { class: "note" }, t("calibration.parts_means")),
  );
}
