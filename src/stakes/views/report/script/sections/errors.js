// How errors are spread.

SECTIONS.errors = ({ edges, counts, below, above, counted }) => {
  const chart = new Chart({
    id: "errors-chart", title: t("errors.chart"), about: t("errors.about"),
    width: NARROW.matches ? 340 : 900, height: 300,
    x: { name: t("predicted.error"), domain: domainOf([...edges, 0], 0.02) },
    y: { name: t("segments.rows"), domain: [0, 1.06 * counts.reduce((a, b) => Math.max(a, b))] },
    legend: [{ text: t("errors.bars"), look: "bar density" }, { text: t("predicted.right"), look: "line rule" }],
    table: () => ({
      head: [t("explorer.from"), t("explorer.to"), t("segments.rows")],
      rows: counts.map((count, i) => [edges[i], edges[i + 1], count]),
    }),
  });
  chart.add(bars(chart, edges, counts, "bar density"), ruleAt(chart, 0));
  addReadout(chart, () => counts.map((n, i) => ({
    x: (edges[i] + edges[i + 1]) / 2, y: n,
    text: () => t("errors.readout", { n, from: edges[i], to: edges[i + 1] }),
  })));
  const outside = { n: below + above, below, above };
  const beyond = outside.n ? node("p", { class: "note" }, t("errors.beyond", outside)) : null;
  const roughly = counted ? null : node("p", { class: "note" }, t("errors.roughly"));
  return node("div", {}, chart.figure, beyond, roughly);
};
