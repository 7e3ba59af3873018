// The confusion table of decisions that were given: rows are the truth.

SECTIONS.confusion = ({ truths, decisions, positive, cells }) => {
  const head = [t("confusion.corner"), ...decisions];
  const of = (count, i, j) => {
    const kind = kindOfCell(truths[i] === decisions[j], i === positive);
    return confusionCell(kind, node("span", { class: "count", "data-value": count }, writeCount(count)));
  };
  const row = (counts, i) => node("tr", {}, node("th", { scope: "row" }, truths[i]), counts.map((n, j) => of(n, i, j)));
  const csv = () => ({ head, rows: cells.map((counts, i) => [truths[i], ...counts]) });
  const save = button("CSV", () => saveCsv("confusion-table", csv()), {
    "aria-label": t("chart.save_csv", { name: t("confusion.title") }),
  });
  const caption = node("p", { class: "caption" }, t("confusion.caption"));
  return node(
    "div", { class: "card" },
    node("div", { class: "table-head" }, caption, node("div", { class: "tools small" }, save)),
    confusionTable(head, cells.map(row)),
  );
};
