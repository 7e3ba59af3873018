// Every figure with its interval, what ignoring the input would score, and the question it answers.

SECTIONS.figures = ({ figures, confidence }) => {
  const head = [t("figures.name"), t("figures.value"), t("figures.interval", { confidence }), t("figures.baseline"), t("figures.question")];
  const table = (wanted, caption, id) => tableOf(head, wanted.map(figureRow), { caption, id, csv: () => figuresCsv(head, wanted) });
  const rest = figures.filter((figure) => !figure.main);
  return node("div", { class: "card" },
    table(figures.filter((figure) => figure.main), t("figures.main"), "figures-main"),
    rest.length ? node("details", {}, node("summary", {}, t("figures.more", { n: rest.length })), table(rest, t("figures.others"), "figures-others")) : null);
};

function figureRow(figure) {
  const words = figure.reason ? t("figures.undefined", { reason: { reason: figure.reason } }) : metricQuestion(figure.name);
  const limits = node("span", { class: "limits" }, writeInterval(figure.low, figure.high));
  return [metricName(figure.name), figureCell(figure), limits, node("span", { class: "limits" }, writeNumber(figure.baseline === null ? NaN : Number(figure.baseline))), node("span", { class: "words" }, words)];
}

function figuresCsv(head, figures) {
  const [name, value, , baseline, question] = head;
  const rows = figures.map((one) => [one.name, one.value, one.low, one.high, one.baseline, metricQuestion(one.name)]);
  return { head: [name, value, t("figures.low"), t("figures.high"), baseline, question], rows };
}
