// The largest errors with their rows.

SECTIONS.largest = ({ errors }) => {
  const head = [t("largest.row"), t("predicted.truth"), t("predicted.prediction"), t("predicted.error")];
  const cell = (value) => figureCell({ value }, writeCost);
  const numbers = errors.map(({ row, truth, prediction, error }) => [row === null ? null : row + 1, truth, prediction, error]);
  const rows = numbers.map(([row, ...others]) => [row === null ? "–" : writeCount(row), ...others.map(cell)]);
  const csv = () => ({ head, rows: numbers });
  const caption = t("largest.caption");
  return node("div", { class: "card" }, tableOf(head, rows, { caption, id: "largest-table", csv }));
};
