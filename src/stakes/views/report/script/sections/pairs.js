// Pairs of labels that are missed together, or one for another.

SECTIONS.pairs = ({ id, title, other, pairs }) => {
  const head = [t("pairs.missed"), sentence(other), t("segments.rows"), t("pairs.share")];
  const rows = pairs.map(({ missed, beside, rows: n, share }) => [
    missed, beside, figureCell({ value: n }, writeCount), figureCell({ value: share }, writePercent),
  ]);
  const csv = () => ({ head, rows: pairs.map(({ missed, beside, rows: n, share }) => [missed, beside, n, share]) });
  const table = tableOf(head, rows, { caption: sentence(title), id: `${id}-table`, csv });
  return node("div", { class: "card" }, table);
};
