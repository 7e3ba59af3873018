// The confusion table of decisions that were given: rows are the truth.

SECTIONS.confusion = ({ truths, decisions, cells }) => {
  const head = [t("confusion.corner"), ...decisions];
  const rows = cells.map((row, i) => [truths[i], ...row.map((count) => figureCell({ value: count }, writeCount))]);
  const csv = () => ({ head, rows: cells.map((row, i) => [truths[i], ...row]) });
  return node(
    "div", { class: "card" },
    tableOf(head, rows, { caption: t("confusion.caption"), id: "confusion-table", csv }),
  );
};
