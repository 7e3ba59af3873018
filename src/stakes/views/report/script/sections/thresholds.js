// What every threshold would cost or give, with the recommended one and those that cannot be told from the best.

SECTIONS.thresholds = (data) => {
  const { x, y, band: doubt, constant } = data;
  const name = data.costs ? t("explorer.per_thousand") : metricName(data.figure);
  const finite = (value) => value !== null && Number.isFinite(Number(value));
  const known = doubt.low.concat(doubt.high).filter((value) => value !== null);
  const chart = new Chart({
    id: "thresholds-chart", title: data.costs ? t("explorer.price") : t("thresholds.chart", { name }),
    about: data.costs ? t("explorer.price_about") : t("thresholds.about"),
    width: NARROW.matches ? 340 : 900, height: NARROW.matches ? 320 : 400,
    x: { name: t("explorer.threshold"), domain: domainOf(x, 0.02) },
    y: { name, domain: domainOf([...y, ...known, ...(constant ? [constant.value] : [])]), write: writeCost },
    legend: [
      { text: t("explorer.price_line"), look: "line" },
      { text: t("thresholds.band"), look: "band" },
      ...(data.alike.length ? [{ text: t("thresholds.alike"), look: "band honest" }] : []),
      ...(finite(data.recommended) ? [{ text: t("thresholds.recommended"), look: "line seen" }] : []),
      ...(finite(data.bayes) && data.bayes !== data.recommended ? [{ text: t("way.bayes"), look: "line rule" }] : []),
      ...(constant ? [{ text: sentence(constant.name), look: "line diagonal" }] : []),
    ],
    table: () => ({ head: [t("explorer.threshold"), name], rows: x.map((one, i) => [one, y[i]]) }),
  });
  chart.add(...data.alike.map(([low, high]) => spanBetween(chart, Number(low), Number(high))));
  chart.add(band(chart, doubt.x, doubt.low, doubt.high));
  if (constant) chart.add(levelAt(chart, constant.value));
  chart.add(line(chart, x, y, "line"));
  if (finite(data.bayes) && data.bayes !== data.recommended) chart.add(ruleAt(chart, data.bayes));
  if (finite(data.recommended)) chart.add(ruleAt(chart, data.recommended, "line seen"));
  addReadout(chart, () => x.map((one, i) => ({
    x: one, y: y[i],
    text: () => (data.costs
      ? t("explorer.price_readout", { threshold: one, cost: y[i] })
      : t("thresholds.readout", { threshold: one, name, value: y[i] })),
  })));
  return chart.figure;
};
