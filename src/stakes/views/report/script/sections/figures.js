// Every figure with its interval, what ignoring the input would score, and the question it answers.

SECTIONS.figures = ({ figures, confidence }) => {
  const all = [
    t("figures.name"),
    t("figures.value"),
    t("figures.interval", { confidence }),
    t("figures.baseline"),
    t("figures.question"),
  ];
  const ignored = figures.some(({ baseline }) => baseline !== null); // whether any says what ignoring the input scores
  const kept = (row) => row.filter((_, i) => ignored || i !== 3);
  const table = (wanted, caption, id) => {
    const csv = () => figuresCsv(all, wanted);
    return tableOf(kept(all), wanted.map((figure) => kept(figureRow(figure))), { caption, id, csv });
  };
  const rest = figures.filter((figure) => !figure.main);
  const summary = node("summary", {}, t("figures.more", { n: rest.length }));
  return node(
    "div", { class: "card" },
    table(figures.filter((figure) => figure.main), t("figures.main"), "figures-main"),
    rest.length ? node("details", {}, summary, table(rest, t("figures.others"), "figures-others")) : null,
  );
};

function figureRow(figure) {
  const why = { reason: { reason: figure.reason } };
  const words = figure.reason ? t("figures.undefined", why) : metricQuestion(figure.name);
  const title = figure.note ? reasonText(figure.note) : null;
  const limits = node("span", { class: "limits", title }, writeInterval(figure.low, figure.high) + (figure.mark ?? ""));
  return [
    metricName(figure.name),
    figureCell(figure),
    limits,
    node("span", { class: "limits" }, writeNumber(figure.baseline === null ? NaN : Number(figure.baseline))),
    node("span", { class: "words" }, words),
  ];
}

function figuresCsv(head, figures) {
  const [name, value, , baseline, question] = head;
  const rows = figures.map((one) => [one.name, one.value, one.low, one.high, one.baseline, metricQuestion(one.name)]);
  return { head: [name, value, t("figures.low"), t("figures.high"), baseline, question], rows };
}
