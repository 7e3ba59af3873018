// The models by each figure, the best first.

SECTIONS.ranking = ({ tables, confidence }) => node("div", { class: "stack" }, tables.map(({ metric, places }, i) => {
  const name = metricName(metric);
  const before = [t("ranking.model"), t("ranking.rank"), name];
  const head = [...before, t("figures.interval", { confidence }), t("figures.baseline")];
  const rows = places.map(({ rank, model, figure }) => [
    model,
    writeCount(rank),
    figureCell(figure),
    node("span", { class: "limits" }, writeInterval(figure.low, figure.high)),
    node("span", { class: "limits" }, writeNumber(figure.baseline === null ? NaN : Number(figure.baseline))),
  ]);
  const csv = () => ({
    head: [...before, t("figures.low"), t("figures.high"), t("figures.baseline")],
    rows: places.map(({ rank, model, figure }) => [
      model, rank, figure.value, figure.low, figure.high, figure.baseline,
    ]),
  });
  const table = tableOf(head, rows, { caption: metricQuestion(metric), id: `ranking-${i + 1}`, csv });
  return node("div", { class: "card" }, table);
}));
