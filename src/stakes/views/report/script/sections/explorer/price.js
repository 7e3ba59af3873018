// What each threshold costs: a curve that is redrawn when costs or prevalence change.

function priceReading(model) {
  const place = node("div", { class: "price" });
  let drawn = null;
  let drawnFor = null;
  return { element: place, move(current) {
    const key = JSON.stringify([current.costs, current.prevalence]);
    if (key !== drawnFor) {
      drawn = priceChart(model, current);
      place.replaceChildren(drawn.chart.figure);
      drawnFor = key;
    }
    drawn.move(current);
  } };
}

function priceChart(model, { costs, prevalence }) {
  const stops = model.thresholds.map((_, stop) => stop).slice(1); // the first one, +∞, has no place on the paper
  const xs = stops.map((stop) => model.thresholds[stop]);
  const prices = model.thresholds.map((_, stop) => 1000 * model.cost(stop, costs, prevalence));
  const ys = stops.map((stop) => prices[stop]);
  const { edges } = model.data.histogram;
  const chart = new Chart({
    id: "price", title: t("explorer.price"), about: t("explorer.price_about"), height: NARROW.matches ? 260 : 330,
    x: { name: t("explorer.threshold"), domain: [edges[0], edges[edges.length - 1]] },
    y: { name: t("explorer.per_thousand"), domain: domainOf([...ys, prices[0]]), write: writeCost },
    legend: [
      { text: t("explorer.price_line"), look: "line main" },
      { text: t("explorer.cheapest"), look: "dot best" },
      { text: t("explorer.price_nobody"), look: "line diagonal" },
    ],
    table: () => ({
      head: [t("explorer.threshold"), t("explorer.per_thousand")],
      rows: prices.map((price, stop) => [finite(model.thresholds[stop]), price]),
    }),
  });
  const best = model.best(costs, prevalence);
  const point = dot(chart, xs[0], ys[0], "dot here", 7);
  chart.add(line(chart, chart.x.domain, [prices[0], prices[0]], "line diagonal"), line(chart, xs, ys, "line main"));
  if (best > 0) chart.add(dot(chart, model.thresholds[best], prices[best], "dot best", 6));
  chart.add(point);
  const told = (i) => t("explorer.price_readout", { threshold: xs[i], cost: ys[i] });
  addReadout(chart, () => xs.map((x, i) => ({ x, y: ys[i], text: () => told(i) })));
  return { chart, move({ stop }) {
    const [low, high] = chart.x.domain;
    moveTo(point, chart, Math.max(low, Math.min(high, model.thresholds[stop])), prices[stop]);
  } };
}
