// Which classes are most often taken for which.

SECTIONS.confused = ({ pairs }) => {
  const head = [t("confused.truth"), t("confused.decision"), t("segments.rows"), t("confused.share")];
  const rows = pairs.map(({ truth, decision, count, share }) => [
    truth, decision, figureCell({ value: count }, writeCount), figureCell({ value: share }, writePercent),
  ]);
  const csv = () => ({ head, rows: pairs.map(({ truth, decision, count, share }) => [truth, decision, count, share]) });
  const caption = t("confused.caption");
  return node("div", { class: "card" }, tableOf(head, rows, { caption, id: "confused-table", csv }));
};
