// What the thresholds of scores find and let through, as ROC and PR curves of several scores together.

// A curve: { name, P, N, thresholds, tp, fp }; shown: [{ curve, look, front }]; the read-out tells those in front.
function sweptRoc(id, shown, legend) {
  const axis = { domain: [0, 1] };
  const chart = new Chart({
    id: `${id}-roc`, title: t("explorer.roc"), about: t("explorer.roc_about"), legend,
    x: { ...axis, name: metricName("false_positive_rate") }, y: { ...axis, name: metricName("recall") },
    table: () => sweptTable(shown, "false_positive_rate", alarmsAt, foundAt),
  });
  chart.add(line(chart, [0, 1], [0, 1], "line diagonal"));
  for (const { curve, look } of shown) {
    chart.add(line(chart, curve.fp.map((_, i) => alarmsAt(curve, i)), curve.tp.map((_, i) => foundAt(curve, i)), look));
  }
  addReadout(chart, () => sweptPoints(shown, 0, (curve, i) => ({
    x: alarmsAt(curve, i), y: foundAt(curve, i),
    text: () => t("sweeps.roc", {
      name: curve.name, threshold: thresholdAt(curve, i), found: foundAt(curve, i), alarms: alarmsAt(curve, i),
    }),
  })));
  return chart;
}

function sweptPr(id, shown, legend) {
  const axis = { domain: [0, 1] };
  const chart = new Chart({
    id: `${id}-pr`, title: t("explorer.pr"), about: t("explorer.pr_about"), legend,
    x: { ...axis, name: metricName("recall") }, y: { ...axis, name: metricName("precision") },
    table: () => sweptTable(shown, "precision", precisionAt, foundAt),
  });
  for (const { curve, look } of shown) {
    const places = curve.tp.map((_, i) => i).slice(1);
    const d = stepsThrough(chart, places.map((i) => foundAt(curve, i)), places.map((i) => precisionAt(curve, i)));
    chart.add(shape("path", { class: look, d }));
  }
  addReadout(chart, () => sweptPoints(shown, 1, (curve, i) => ({
    x: foundAt(curve, i), y: precisionAt(curve, i),
    text: () => t("sweeps.pr", {
      name: curve.name, threshold: thresholdAt(curve, i), found: foundAt(curve, i), precision: precisionAt(curve, i),
    }),
  })));
  return chart;
}

function foundAt({ tp, P }, i) {
  return tp[i] / P;
}

function alarmsAt({ fp, N }, i) {
  return fp[i] / N;
}

function precisionAt({ tp, fp }, i) {
  return tp[i] / (tp[i] + fp[i]);
}

function thresholdAt({ thresholds }, i) {
  return thresholds[i] ?? Infinity;
}

function sweptPoints(shown, from, point) {
  const front = shown.filter(({ front }) => front);
  return front.flatMap(({ curve }) => curve.tp.map((_, i) => i).slice(from).map((i) => point(curve, i)));
}

function sweptTable(shown, name, value, found) {
  return {
    head: [t("sweeps.score"), t("explorer.threshold"), metricName(name), metricName("recall")],
    rows: shown.flatMap(({ curve }) => curve.tp.map((_, i) => [
      curve.name, thresholdAt(curve, i), value(curve, i), found(curve, i),
    ])),
  };
}
