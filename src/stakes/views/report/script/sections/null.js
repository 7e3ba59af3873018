// What shuffled labels give, and what was seen.

SECTIONS.null = ({ metric, better, value, p_value: p, edges, counts, mean, permutations }) => {
  const name = metricName(metric);
  const chart = new Chart({
    id: "null-chart", title: t("null.chart", { name }),
    about: better === "higher" ? t("null.about_higher") : t("null.about_lower"),
    width: NARROW.matches ? 340 : 900, height: NARROW.matches ? 300 : 340,
    x: { name, domain: domainOf([...edges, Number(value)]) },
    y: { name: t("null.shuffles"), domain: [0, 1.06 * counts.reduce((a, b) => Math.max(a, b))] },
    legend: [
      { text: t("null.bars", { n: permutations }), look: "bar density" },
      { text: t("null.seen", { name, value, p }), look: "line seen" },
    ],
    table: () => ({
      head: [t("explorer.from"), t("explorer.to"), t("null.shuffles")],
      rows: counts.map((count, i) => [edges[i], edges[i + 1], count]),
    }),
  });
  chart.add(bars(chart, edges, counts, "bar density"));
  if (Number.isFinite(Number(value))) chart.add(ruleAt(chart, value, "line seen"));
  addReadout(chart, () => counts.map((n, i) => ({
    x: (edges[i] + edges[i + 1]) / 2, y: n, text: () => t("null.readout", { n, from: edges[i], to: edges[i + 1] }),
  })));
  return node("div", {}, chart.figure, node("p", { class: "note" }, t("null.mean", { mean })));
};
