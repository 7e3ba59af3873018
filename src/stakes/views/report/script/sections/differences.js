// The difference of every two models with its interval, and how much would not matter.

SECTIONS.differences = (data) => {
  const state = remember("differences", { place: 0 });
  const place = node("div", { class: "stack" });
  const show = () => place.replaceChildren(...differencesOf(data, data.metrics[state.place]));
  const choose = (event) => {
    state.place = Number(event.target.value);
    show();
  };
  const option = ({ metric }, i) => node("option", { value: i, selected: i === state.place }, metricName(metric));
  const choice = node("select", { id: "differences-metric", onchange: choose }, data.metrics.map(option));
  const shown = { n: data.count, shown: data.metrics[0].pairs.length };
  show();
  return node(
    "div", {},
    data.metrics.length > 1 ? node("p", {}, node("label", {}, t("segments.figure"), " ", choice)) : null,
    shown.n > shown.shown ? node("p", {}, t("differences.cut", shown)) : null,
    place,
  );
};

function differencesOf({ margin, confidence }, found) {
  return [differenceChart(found, margin, confidence).figure, differenceTable(found, confidence)];
}

function differenceChart({ metric, better, pairs }, margin, confidence) {
  const name = metricName(metric);
  const rows = pairs.map((pair) => ({
    name: `${pair.first} − ${pair.second}`,
    value: typeof pair.difference === "number" ? pair.difference : null,
    low: pair.low,
    high: pair.high,
    reason: t("differences.undefined"),
    text: () => t("differences.readout", { ...pair, value: pair.difference, p: pair.p_value }),
  }));
  const title = t("differences.chart", { name });
  return listChart({
    id: "differences-chart", title, axis: title, rows, rule: 0,
    about: better === "higher" ? t("differences.higher", { confidence }) : t("differences.lower", { confidence }),
    span: margin === null ? null : [-margin, margin],
    legend: [
      { text: t("differences.dot"), look: "dot accent" }, { text: t("differences.zero"), look: "line rule" },
      ...(margin === null ? [] : [{ text: t("differences.margin", { margin }), look: "band honest" }]),
    ],
    table: () => differenceCsv(pairs),
  });
}

function differenceTable({ metric, pairs }, confidence) {
  const several = pairs.length > 1;
  const head = [
    t("differences.pair"), t("differences.chart", { name: metricName(metric) }), t("figures.interval", { confidence }),
    t("differences.p"), ...(several ? [t("differences.holm")] : []),
  ];
  const rows = pairs.map((pair) => [
    `${pair.first} − ${pair.second}`,
    figureCell({ value: pair.difference }),
    node("span", { class: "limits" }, writeInterval(pair.low, pair.high)),
    figureCell({ value: pair.p_value }, writeChance),
    ...(several ? [figureCell({ value: pair.adjusted_p_value }, writeChance)] : []),
  ]);
  const caption = several ? t("differences.table") : t("differences.table_one");
  const csv = () => differenceCsv(pairs);
  return node("div", { class: "card" }, tableOf(head, rows, { caption, id: "differences-table", csv }));
}

function differenceCsv(pairs) {
  return {
    head: [
      t("differences.first"), t("differences.second"), t("differences.difference"), t("figures.low"), t("figures.high"),
      t("differences.p"), t("differences.holm"),
    ],
    rows: pairs.map((one) => [
      one.first, one.second, one.difference, one.low, one.high, one.p_value, one.adjusted_p_value,
    ]),
  };
}
