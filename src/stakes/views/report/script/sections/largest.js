// The largest errors with their rows.

SECTIONS.largest = ({ errors }) => {
  const head = [t("largest.row"), t("predicted.truth"), t("predicted.prediction"), t("predicted.error")];
  const cell = (value) => figureCell({ value });
  const rows = errors.map(({ row, truth, prediction, error }) => [writeCount(row), cell(truth), cell(prediction), cell(error)]);
  const csv = () => ({ head, rows: errors.map(({ row, truth, prediction, error }) => [row, truth, prediction, error]) });
  return node("div", { class: "card" }, tableOf(head, rows, { caption: t("largest.caption"), id: "largest-table", csv }));
};
