// How the system's cost follows each share of right answers of a model, the other sliders staying where they are.

const ACCURACY_LOOKS = ["accent", "positive", "negative", "doubt", "quiet", "ink"];

// The sliders that a model has: one for each class, and for each thing that it sees.
function slidersOfAxis({ right, chances }) {
  const all = right.flatMap((code, c) => (code < 0 ? [] : chances[c].map((row, a) => ({ c, a, now: row[code], row }))));
  return all.filter(({ row }) => row.length > 1 && row.every((chance) => chance !== null));
}

function sliderLabel({ classes, models }, model, { c, a }) {
  const { sees, seen, by_rows: byRows } = models[model];
  if (byRows || !sees.length || !seen[a]) return t("system.right_for", { truth: classes[c] });
  const what = sees.map((one, i) => `${one}: ${seen[a][i]}`).join(", ");
  return t("system.right_seeing", { truth: classes[c], seen: what });
}

function accuracyChart(data, arithmetic, model, place, accuracy) {
  const sliders = slidersOfAxis(arithmetic.axes[place]);
  const costAt = (c, a, share) => arithmetic.cost(arithmetic.decide((axis, k, b) => (
    axis === place && k === c && b === a ? share : accuracy(axis, k, b)
  )));
  const here = arithmetic.cost(arithmetic.decide(accuracy));
  const lines = sliders.slice(0, ACCURACY_LOOKS.length).map(({ c, a, now }, i) => {
    const shares = [...new Set([0, now, 1])]; // from rows the cost may bend where the model stands now
    const costs = shares.map((share) => costAt(c, a, share));
    const label = sliderLabel(data, model, { c, a });
    return { label, shares, costs, at: accuracy(place, c, a) ?? now, look: accuracyLook(data, c, i) };
  });
  const ends = lines.map(({ costs }) => costs.map((cost) => cost - here));
  const most = ends.reduce((sum, one) => sum + Math.max(0, ...one), here);
  const least = ends.reduce((sum, one) => sum + Math.min(0, ...one), here);
  const title = t("system.accuracy_chart", { model: data.models[model].name });
  const chart = new Chart({
    id: "accuracy", title, about: t("system.accuracy_about"),
    x: { name: t("system.accuracy"), domain: [0, 1], write: (share) => writeTick(100 * share) },
    y: { name: t("system.per_thousand"), domain: domainOf([least, most, data.constant.cost]) },
    legend: [
      ...lines.map(({ label, look }) => ({ text: label, look: `line ${look}` })),
      { text: t("system.always", { decision: data.constant.decision }), look: "line rule" },
    ],
    table: () => ({
      head: [t("system.slider"), t("system.accuracy"), t("system.per_thousand")],
      rows: lines.flatMap(({ label, shares, costs }) => shares.map((share, i) => [label, share, costs[i]])),
    }),
  });
  const { constant: { cost: always } } = data;
  chart.add(line(chart, [0, 1], [always, always], "line rule"));
  for (const { shares, costs, look } of lines) chart.add(line(chart, shares, costs, `line ${look}`));
  for (const { at, look } of lines) chart.add(dot(chart, at, here, `dot ${look}`, 6));
  addReadout(chart, () => lines.flatMap(({ label, shares, costs }) => shares.map((x, i) => (
    { x, y: costs[i], text: () => t("system.accuracy_readout", { label, share: x, cost: costs[i] }) }
  ))));
  return chart;
}

// The two classes have colours of their own.
function accuracyLook({ positive }, c, i) {
  if (positive === null) return ACCURACY_LOOKS[i];
  const seen = i < 2 ? "" : " dashed";
  return `${c === positive ? "positive" : "negative"}${seen}`;
}
