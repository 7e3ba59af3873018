// Ways to decide: what each costs or is worth, and what the recommended one saves against it.

SECTIONS.ways = ({ figure, costs, ways }) => {
  const name = costs ? t("explorer.per_thousand") : metricName(figure);
  const write = costs ? writeCost : writeNumber;
  const rows = ways.map((way) => ({
    ...way.figure,
    name: sentence(way.name),
    text: () => waysReadout(way, write),
  }));
  const chart = listChart({
    id: "ways-chart", title: t("ways.chart"), about: costs ? t("ways.about_costs") : t("ways.about"), axis: name, rows,
    rule: rows[0].value, write: costs ? writeCost : undefined,
    legend: [{ text: t("ways.dot"), look: "dot accent" }, { text: rows[0].name, look: "line rule" }],
    table: () => waysCsv(ways, rows, name),
  });
  return node("div", { class: "stack" }, chart.figure, waysTable(ways, rows, name, write));
};

function waysReadout({ name, figure: { value, low, high } }, write) {
  const told = { way: sentence(name), value: write(Number(value)) };
  if (low === null) return t("ways.readout", told);
  return t("ways.readout_sure", { ...told, limits: writeInterval(low, high, write) });
}

function waysTable(ways, rows, name, write) {
  const saved = ways.some(({ saving }) => saving !== null);
  const limits = (one) => node("span", { class: "limits" }, writeInterval(one.low, one.high, write));
  const ends = t("calibration.limits");
  const head = [t("ways.way"), name, ends, ...(saved ? [t("ways.saving"), ends] : [])];
  const body = ways.map(({ figure, saving }, i) => [
    rows[i].name, figureCell(figure, write), limits(figure),
    ...(saved ? [saving ? figureCell(saving, write) : "–", saving ? limits(saving) : "–"] : []),
  ]);
  const caption = saved ? t("ways.caption") : t("ways.chart");
  const csv = () => waysCsv(ways, rows, name);
  return node("div", { class: "card" }, tableOf(head, body, { caption, id: "ways-table", csv }));
}

function waysCsv(ways, rows, name) {
  const ends = [t("figures.low"), t("figures.high")];
  return {
    head: [t("ways.way"), name, ...ends, t("ways.saving"), ...ends],
    rows: ways.map(({ figure, saving }, i) => [
      rows[i].name, figure.value, figure.low, figure.high, saving?.value, saving?.low, saving?.high,
    ]),
  };
}
