// The largest errors with their rows, if those have numbers: rows in an engine have none.

SECTIONS.largest = ({ errors }) => {
  const numbered = errors.every(({ row }) => row !== null);
  const kept = (row, ...others) => (numbered ? [row, ...others] : others);
  const head = kept(t("largest.row"), t("predicted.truth"), t("predicted.prediction"), t("predicted.error"));
  const cell = (value) => figureCell({ value }, writeCost);
  const rows = errors.map(({ row, truth, prediction, error }) => kept(writeCount(row + 1), ...[truth, prediction, error].map(cell)));
  const csv = () => ({ head, rows: errors.map(({ row, ...others }) => kept(row + 1, ...Object.values(others))) });
  const caption = t(numbered ? "largest.caption" : "largest.title");
  return node("div", { class: "card" }, tableOf(head, rows, { caption, id: "largest-table", csv }));
};
