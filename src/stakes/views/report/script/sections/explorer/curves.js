// The pictures that move with the threshold: ROC curve, precision and recall, histograms of the scores.

// How much of the ROC curve has been walked is drawn strongly; the rest waits.
function rocChart(model) {
  const { bands, positive } = model.data;
  const xs = model.thresholds.map((_, stop) => model.alarms(stop));
  const ys = model.thresholds.map((_, stop) => model.recall(stop));
  const chart = new Chart({
    id: "roc", title: t("explorer.roc"), about: t("explorer.roc_about"),
    x: { name: metricName("false_positive_rate"), domain: [0, 1] }, y: { name: metricName("recall"), domain: [0, 1] },
    legend: [
      { text: t("explorer.curve"), look: "line main" },
      { text: t("explorer.band"), look: "band" },
      { text: t("explorer.guess"), look: "line diagonal" },
    ],
    table: () => ({
      head: [t("explorer.threshold"), metricName("false_positive_rate"), metricName("recall")],
      rows: xs.map((x, i) => [finite(model.thresholds[i]), x, ys[i]]),
    }),
  });
  const walked = shape("path", { class: "line main" });
  const point = dot(chart, 0, 0, "dot here", 7);
  chart.add(
    band(chart, bands.roc.x, bands.roc.low, bands.roc.high),
    line(chart, [0, 1], [0, 1], "line diagonal"),
    line(chart, xs, ys, "line ahead"),
    walked,
    point,
  );
  const told = (stop) => ({ threshold: model.thresholds[stop], alarms: xs[stop], found: ys[stop], positive });
  addReadout(chart, () => xs.map((x, stop) => ({ x, y: ys[stop], text: () => t("explorer.roc_readout", told(stop)) })));
  const pieces = xs.map((x, i) => `${i ? "L" : "M"}${chart.x(x).toFixed(2)} ${chart.y(ys[i]).toFixed(2)}`);
  return { chart, move({ stop }) {
    walked.setAttribute("d", pieces.slice(0, stop + 1).join(""));
    moveTo(point, chart, xs[stop], ys[stop]);
  } };
}

// At another prevalence than that of the rows the whole curve moves; the band belongs to the rows and steps aside.
function prChart(model) {
  const { bands } = model.data;
  const xs = model.thresholds.map((_, stop) => model.recall(stop));
  let ys = [];
  let drawnAt = null;
  const chart = new Chart({
    id: "pr", title: t("explorer.pr"), about: t("explorer.pr_about"),
    x: { name: metricName("recall"), domain: [0, 1] }, y: { name: metricName("precision"), domain: [0, 1] },
    legend: [
      { text: t("explorer.curve"), look: "line main" },
      { text: t("explorer.band"), look: "band" },
      { text: t("explorer.everyone"), look: "line diagonal" },
    ],
    table: () => ({
      head: [t("explorer.threshold"), metricName("recall"), metricName("precision")],
      rows: xs.map((x, i) => [finite(model.thresholds[i]), x, ys[i]]),
    }),
  });
  const around = band(chart, bands.pr.x, bands.pr.low, bands.pr.high);
  const curve = shape("path", { class: "line main", id: "pr-curve" });
  const chance = shape("path", { class: "line diagonal" });
  const point = dot(chart, 0, 1, "dot here", 7);
  chart.add(around, chance, curve, point);
  const told = (stop) => ({ threshold: model.thresholds[stop], found: xs[stop], precision: ys[stop] });
  addReadout(chart, () => xs.map((x, stop) => ({ x, y: ys[stop], text: () => t("explorer.pr_readout", told(stop)) })));
  const redraw = (prevalence) => {
    ys = xs.map((_, stop) => model.precision(stop, prevalence));
    curve.setAttribute("d", stepsThrough(chart, xs, ys));
    chance.setAttribute("d", pathThrough(chart, [0, 1], [prevalence, prevalence]));
    around.setAttribute("visibility", prevalence === model.rowsPrevalence ? "visible" : "hidden");
    drawnAt = prevalence;
  };
  return { chart, move({ stop, prevalence }) {
    if (drawnAt !== prevalence) redraw(prevalence);
    moveTo(point, chart, xs[stop], ys[stop]);
  } };
}

// Of each bin what lies at or above the threshold: bins are filled from the highest scores down.
function filledFromTheTop(counts, above) {
  let left = above;
  return counts.reduceRight((filled, count) => {
    const part = Math.min(count, left);
    left -= part;
    return [part, ...filled];
  }, []);
}

// Positives upwards, negatives downwards; what lies at or above the threshold is full, the rest is pale.
function histogramChart(model) {
  const { histogram: { edges, positives, negatives }, positive, negative, P, N } = model.data;
  const up = positives.map((count) => count / P);
  const down = negatives.map((count) => -count / N);
  const chart = new Chart({
    id: "histogram", title: t("explorer.histogram"), about: t("explorer.histogram_about"),
    width: NARROW.matches ? 340 : 1060, height: 300,
    x: { name: t("explorer.score"), domain: [edges[0], edges[edges.length - 1]] },
    y: {
      name: t("explorer.share"),
      domain: domainOf([...up, ...down]),
      write: (value) => writePercent(Math.abs(value)),
    },
    legend: [
      { text: positive, look: "bar positive" },
      { text: negative, look: "bar negative" },
      { text: t("explorer.threshold"), look: "line rule" },
    ],
    table: () => ({
      head: [t("explorer.from"), t("explorer.to"), positive, negative],
      rows: positives.map((count, i) => [edges[i], edges[i + 1], count, negatives[i]]),
    }),
  });
  const { tp, fp } = model.data.stops;
  const full = shape("g", { class: "full" });
  const rule = ruleAt(chart, edges[0]);
  chart.add(
    bars(chart, edges, up, "bar positive pale"),
    bars(chart, edges, down, "bar negative pale"),
    full,
    flat(chart, edges[0], edges[edges.length - 1], 0, "line zero"),
    rule,
  );
  const told = (i) => ({ from: edges[i], to: edges[i + 1], positives: positives[i], negatives: negatives[i] });
  addReadout(chart, () => up.map((height, i) => ({
    x: (edges[i] + edges[i + 1]) / 2,
    y: height,
    text: () => t("explorer.histogram_readout", { ...told(i), positive, negative }),
  })));
  return { chart, move({ stop }) {
    const place = Math.max(chart.x.range[0], Math.min(chart.x.range[1], chart.x(model.thresholds[stop])));
    full.replaceChildren(
      bars(chart, edges, filledFromTheTop(positives, tp[stop]).map((count) => count / P), "bar positive"),
      bars(chart, edges, filledFromTheTop(negatives, fp[stop]).map((count) => -count / N), "bar negative"),
    );
    rule.setAttribute("x1", place);
    rule.setAttribute("x2", place);
  } };
}

function moveTo(point, chart, x, y) {
  point.setAttribute("cx", chart.x(x));
  point.setAttribute("cy", chart.y(y));
}

function finite(value) {
  return Number.isFinite(value) ? value : null;
}
