// The models by their mean score, with the ranks that each may have.

SECTIONS.standings = ({ places, count, confidence }) => {
  const state = remember("standings", { text: "", best: false });
  const place = node("div", { class: "stack" });
  const show = () => {
    const wanted = state.text.trim().toLowerCase();
    const shown = places.filter((one) => (!state.best || one.best) && one.model.toLowerCase().includes(wanted));
    place.replaceChildren(...(shown.length
      ? [standingsChart(shown, confidence).figure, standingsTable(shown, confidence)]
      : [node("p", {}, t("ranks.none_shown"))]));
  };
  const type = (event) => {
    state.text = event.target.value;
    show();
  };
  const tick = (event) => {
    state.best = event.target.checked;
    show();
  };
  show();
  return node(
    "div", {},
    count > places.length ? node("p", {}, t("ranks.cut", { n: count, shown: places.length })) : null,
    node(
      "p", {},
      node("label", {}, t("ranks.filter"), " ", node("input", {
        id: "standings-filter", type: "search", value: state.text, oninput: type,
      })),
      " ",
      node("label", { class: "tick" }, node("input", {
        id: "standings-best", type: "checkbox", checked: state.best, onchange: tick,
      }), " ", t("ranks.only_best")),
    ),
    place,
  );
};

function standingsChart(places, confidence) {
  const shown = places.slice(0, 60);
  const rows = shown.map((one) => ({
    name: one.model,
    value: one.rank,
    low: one.low,
    high: one.high,
    text: () => t("ranks.readout", { model: one.model, low: one.low, high: one.high, value: one.figure.value }),
  }));
  const title = t("ranks.chart");
  return listChart({
    id: "standings-chart", title, axis: t("ranks.rank"), rows, rule: null, write: writeCount,
    about: t("ranks.about_chart", { confidence }),
    legend: [{ text: t("ranks.dot"), look: "dot accent" }],
    table: () => standingsCsv(places),
  });
}

function standingsTable(places, confidence) {
  const head = [
    t("ranks.model"), t("ranks.rank"), t("ranks.rank_interval"), t("ranks.mean"), t("figures.interval", { confidence }),
    t("ranks.group"), t("ranks.among_best"),
  ];
  const rows = places.map((one) => [
    one.model,
    writeCount(one.rank),
    one.low === one.high ? writeCount(one.low) : `${writeCount(one.low)} – ${writeCount(one.high)}`,
    figureCell(one.figure),
    node("span", { class: "limits" }, writeInterval(one.figure.low, one.figure.high)),
    writeCount(one.group),
    one.best ? "✓" : "–",
  ]);
  const csv = () => standingsCsv(places);
  return node("div", { class: "card" }, tableOf(head, rows, { caption: t("ranks.table"), id: "standings-table", csv }));
}

function standingsCsv(places) {
  return {
    head: ["model", "rank", "rank_low", "rank_high", "mean", "low", "high", "items", "group", "among_best"],
    rows: places.map((one) => [
      one.model, one.rank, one.low, one.high, one.figure.value, one.figure.low, one.figure.high, one.items, one.group,
      one.best,
    ]),
  };
}
