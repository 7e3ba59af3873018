// The figures of each class against the rest, and a line at their plain mean.

SECTIONS.classes = ({ metrics, classes, whole, count, entry }) => {
  const words = {
    choose: t("segments.figure"), entry: entry ? sentence(entry) : t("classes.class"),
    dot: t(entry ? "each.dot" : "classes.dot"), rule: t("classes.mean"),
  };
  const choices = metrics.map((name, i) => (
    { name: metricName(name), about: metricQuestion(name), rule: whole ? whole[i].value : null }
  ));
  const shown = { n: count, shown: classes.length };
  return node(
    "div", {},
    entry ? null : node("p", { class: "intro" }, t("classes.intro")),
    shown.n > shown.shown ? node("p", {}, t("classes.cut", shown)) : null,
    chosenList({ id: "classes", choices, entries: classes, words }),
    classTable(metrics, classes, words.entry, t(entry ? "classes.all_of_each" : "classes.table")),
  );
};

function classTable(metrics, classes, entry, caption) {
  const head = [entry, t("segments.rows"), ...metrics.map(metricName)];
  const rows = classes.map(({ name, rows: n, figures }) => [
    name,
    figureCell({ value: n }, writeCount),
    ...figures.map((figure) => node("span", {}, figureCell(figure), " ", classLimits(figure))),
  ]);
  const ends = [t("figures.value"), t("figures.low"), t("figures.high")];
  const limits = metrics.flatMap((name) => ends.map((end) => `${metricName(name)}, ${end}`));
  const numbers = (figures) => figures.flatMap(({ value, low, high }) => [value, low, high]);
  const csv = () => ({
    head: [entry, t("segments.rows"), ...limits],
    rows: classes.map((one) => [one.name, one.rows, ...numbers(one.figures)]),
  });
  const table = tableOf(head, rows, { caption, id: "classes-table", csv });
  return node("details", { class: "card" }, node("summary", {}, caption), table);
}

function classLimits({ low, high }) {
  return low === null ? null : node("span", { class: "limits" }, writeInterval(low, high));
}
