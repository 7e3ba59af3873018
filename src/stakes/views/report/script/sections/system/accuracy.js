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

// For each slider what the system costs from its one end to the other.
function accuracyLines(data, arithmetic, model, place, accuracy) {
  const costs = data.classes.map((_, c) => arithmetic.costOfClass(c, accuracy));
  const here = costs.reduce((sum, cost) => sum + cost, 0);
  const costAt = (c, a, share) => { // only what cases of this class cost changes
    const moved = (axis, k, b) => (axis === place && b === a ? share : accuracy(axis, k, b));
    return here - costs[c] + arithmetic.costOfClass(c, moved);
  };
  const sliders = slidersOfAxis(arithmetic.axes[place]).slice(0, ACCURACY_LOOKS.length);
  const lines = sliders.map(({ c, a, now }, i) => {
    const shares = [...new Set([0, now, 1])]; // from rows the cost may bend where the model stands now
    return {
      label: sliderLabel(data, model, { c, a }),
      look: accuracyLook(data, sliders.length, c, i),
      at: accuracy(place, c, a) ?? now,
      shares,
      costs: shares.map((share) => costAt(c, a, share)),
    };
  });
  return { here, lines };
}

// The two classes have colours of their own.
function accuracyLook({ positive }, count, c, i) {
  if (positive === null || count > 2) return ACCURACY_LOOKS[i];
  return c === positive ? "positive" : "negative";
}

function accuracyChart(data, arithmetic, model, place, accuracy) {
  const { here, lines } = accuracyLines(data, arithmetic, model, place, accuracy);
  const { constant: { cost: always, decision } } = data;
  // The axis holds all that this model's sliders can reach, so it stays where it is while they move.
  const ends = lines.map((one) => one.costs.map((cost) => cost - here));
  const most = ends.reduce((sum, one) => sum + Math.max(0, ...one), here);
  const least = ends.reduce((sum, one) => sum + Math.min(0, ...one), here);
  const title = t("system.accuracy_chart", { model: data.models[model].name });
  const chart = new Chart({
    id: "accuracy", title, about: t("system.accuracy_about"),
    x: { name: t("system.accuracy"), domain: [0, 1], write: (share) => writeTick(100 * share) },
    y: { name: t("system.per_thousand"), domain: domainOf([least, most, always]) },
    legend: [
      ...lines.map(({ label, look }) => ({ text: label, look: `line ${look}` })),
      { text: t("system.always", { decision }), look: "line rule" },
    ],
    table: () => ({
      head: [t("system.slider"), t("system.accuracy"), t("system.per_thousand")],
      rows: lines.flatMap((one) => one.shares.map((share, i) => [one.label, share, one.costs[i]])),
    }),
  });
  chart.add(line(chart, [0, 1], [always, always], "line rule"));
  for (const one of lines) chart.add(line(chart, one.shares, one.costs, `line ${one.look}`));
  for (const { at, look } of lines) chart.add(dot(chart, at, here, `dot ${look}`, 6));
  addReadout(chart, () => lines.flatMap((one) => one.shares.map((share, i) => (
    { x: share, y: one.costs[i], text: () => accuracyWords(one, i) }
  ))));
  return chart;
}

function accuracyWords({ label, shares, costs }, i) {
  return t("system.accuracy_readout", { label, share: shares[i], cost: costs[i] });
}
