// On how many rows both, one or none of two models is right.

SECTIONS.agreement = ({ pairs }) => {
  const kinds = ["both_right", "only_first_right", "only_second_right", "both_wrong"];
  const head = [
    t("agreement.pair"), t("agreement.both_right"), t("agreement.only_first"), t("agreement.only_second"),
    t("agreement.both_wrong"),
  ];
  const name = ({ first, second }) => `${first}, ${second}`;
  const rows = pairs.map((pair) => [name(pair), ...kinds.map((kind) => figureCell({ value: pair[kind] }, writeCount))]);
  const csv = () => ({ head, rows: pairs.map((pair) => [name(pair), ...kinds.map((kind) => pair[kind])]) });
  const caption = t("agreement.caption");
  return node("div", { class: "card" }, tableOf(head, rows, { caption, id: "agreement-table", csv }));
};
