// Every two models: which is shown to be better. On a narrow screen how many are better, worse and alike.

SECTIONS.rank_pairs = ({ models, better, gaps, count }) => {
  const save = () => saveCsv("rank-pairs", {
    head: ["model", ...models],
    rows: models.map((name, i) => [name, ...gaps[i]]),
  });
  const tools = button("CSV", save, { "aria-label": t("chart.save_csv", { name: t("ranks.matrix") }) });
  return node(
    "div", {},
    node("p", {}, t("ranks.matrix_about")),
    count > models.length ? node("p", {}, t("ranks.cut", { n: count, shown: models.length })) : null,
    node(
      "div", { class: "card" },
      node(
        "div", { class: "table-head" },
        node("p", { class: "caption" }, t("ranks.matrix")), node("div", { class: "tools small" }, tools),
      ),
      NARROW.matches ? pairCounts(models, better) : pairMatrix(models, better, gaps),
    ),
  );
};

function pairCounts(models, better) {
  const count = (row, sign, i) => writeCount(row.filter((one, j) => one === sign && j !== i).length);
  const rows = models.map((name, i) => [name, ...[1, -1, 0].map((sign) => count(better[i], sign, i))]);
  const head = [`▲ ${t("ranks.better_than")}`, `▽ ${t("ranks.worse_than")}`, `· ${t("ranks.alike")}`];
  return tableOf([t("ranks.model"), ...head], rows);
}

function pairMatrix(models, better, gaps) {
  const signs = { 1: "▲", "-1": "▽", 0: "·" };
  const words = { 1: "ranks.is_better", "-1": "ranks.is_worse", 0: "ranks.is_alike" };
  const cell = (i, j) => {
    if (i === j) return "";
    const told = t(words[better[i][j]], { one: models[i], other: models[j], gap: gaps[i][j] });
    return node("span", { title: told, "aria-label": told, role: "img" }, signs[better[i][j]]);
  };
  const head = [t("ranks.model"), ...models.map((_, j) => writeCount(j + 1))];
  const rows = models.map((name, i) => node(
    "tr", {},
    node("th", { scope: "row" }, `${writeCount(i + 1)}. ${name}`), models.map((_, j) => node("td", {}, cell(i, j))),
  ));
  const table = node(
    "table", { "aria-label": t("ranks.matrix"), class: "signs" },
    node("thead", {}, node("tr", {}, head.map((one) => node("th", { scope: "col" }, one)))), node("tbody", {}, rows),
  );
  return node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("ranks.matrix") }, table);
}
